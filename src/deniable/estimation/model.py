"""A model: a distribution over all attributes that need not be laid out as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from deniable.errors import EstimationError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    Progress = Callable[[str], None]


class Model(Protocol):
    """What a fit to the reports of many attributes can be asked."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes' names."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the attributes' numbers of categories."""

    @property
    def reason(self) -> str:
        """Return why the model is as it is."""

    def table(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        """Return the model's distribution of some attributes, one axis for each."""

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw synthetic people: one row for each, one column for each attribute."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of a model's attributes, in the order given.

    Attributes:
        whole: The model.
        names: The attributes.
    """

    whole: Model
    names: tuple[str, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the attributes' numbers of categories."""
        return tuple(self.whole.sizes[place] for place in self._places)

    @property
    def reason(self) -> str:
        """Return why the whole model is as it is."""
        return self.whole.reason

    def table(self, attributes: Sequence[str]) -> NDArray[np.float64]:
        """Return the whole model's distribution of some attributes."""
        return self.whole.table(attributes)

    def sample(self, people: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw whole people and keep the columns of these attributes."""
        return self.whole.sample(people, rng=rng)[:, list(self._places)]

    @property
    def _places(self) -> tuple[int, ...]:
        for name in self.names:
            if name not in self.whole.names:
                problem = f"there is no attribute {name!r} in the model"
                raise EstimationError(problem, expected=nearest(name, self.whole.names))
        return tuple(self.whole.names.index(name) for name in self.names)
