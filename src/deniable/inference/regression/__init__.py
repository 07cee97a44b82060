"""Regression on answers that nobody saw: logistic and multinomial, with the channel known."""

from deniable.inference.regression.coefficient import Coefficient
from deniable.inference.regression.regress import regress
from deniable.inference.regression.result import Regression

__all__ = ["Coefficient", "Regression", "regress"]
