"""What is asked: attributes, the schema they form, and the survey file.

Imports the standard library only, so that the respondent's side can use it.
"""

from deniable.schema.attribute import Attribute
from deniable.schema.category import Category
from deniable.schema.page import Element, Page
from deniable.schema.privacy import Privacy
from deniable.schema.schema import Schema
from deniable.schema.survey import Survey

__all__ = ["Attribute", "Category", "Element", "Page", "Privacy", "Schema", "Survey"]
