"""Schema: the attributes that are asked together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deniable.errors import AnswerError, SchemaError, nearest
from deniable.schema.canonical import digest_of
from deniable.schema.record import attribute_record, attributes_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.schema.attribute import Attribute


@dataclass(frozen=True, slots=True)
class Schema:
    """One or more attributes, in the order in which answers are encoded.

    >>> from deniable.schema import Attribute
    >>> schema = Schema((Attribute.nominal("sex", ["female", "male"]),))
    >>> schema.encode({"sex": "male"})
    (1,)
    """

    attributes: tuple[Attribute, ...]
    _places: dict[str, int] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a schema that asks nothing, or two things by one name."""
        object.__setattr__(self, "attributes", tuple(self.attributes))
        if not self.attributes:
            raise SchemaError("the schema is empty", expected="at least one attribute")
        places: dict[str, int] = {}
        for place, name in enumerate(self.names):
            # DuckDB and SQL see no difference between Age and age.
            alike = next((other for other in places if other.lower() == name.lower()), None)
            if alike == name:
                raise SchemaError(f"two attributes are named {name!r}")
            if alike is not None:
                raise SchemaError(f"the names {alike!r} and {name!r} differ in case only")
            places[name] = place
        object.__setattr__(self, "_places", places)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each attribute."""
        return tuple(attribute.name for attribute in self.attributes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each attribute."""
        return tuple(attribute.size for attribute in self.attributes)

    def __getitem__(self, name: str) -> Attribute:
        """Return the attribute called ``name``."""
        return self.attributes[self.position(name)]

    def position(self, name: str) -> int:
        """Return the place of the attribute called ``name``."""
        place = self._places.get(name)
        if place is None:
            raise SchemaError(
                f"there is no attribute {name!r}", expected=nearest(str(name), self.names)
            )
        return place

    def select(self, names: Iterable[str]) -> Schema:
        """Return the schema of some of the attributes, in the order named."""
        return Schema(tuple(self[name] for name in names))

    def encode(self, answer: Mapping[str, object]) -> tuple[int, ...]:
        """Return the cell of each attribute's answer.

        An attribute that the answer does not mention counts as not answered.

        Raises:
            AnswerError: An answer has no cell, or belongs to no attribute. None is named.
        """
        strangers = sum(key not in self._places for key in answer)
        if strangers:
            raise AnswerError(
                f"{strangers} of {len(answer)} answers belong to no attribute",
                expected="answers to " + ", ".join(map(repr, self.names)) + " only",
            )
        return tuple(attribute.index(answer.get(attribute.name)) for attribute in self.attributes)

    def digest(self) -> str:
        """Return SHA-256 of everything the schema says, in base64url.

        Texts count too: what was asked is part of what was answered.
        """
        return digest_of(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Spell the schema out as plain data."""
        return {"attributes": [attribute_record(attribute) for attribute in self.attributes]}

    @classmethod
    def from_dict(cls, record: object) -> Schema:
        """Read what ``to_dict`` wrote.

        Raises:
            SchemaError: Listing everything that is wrong with the record.
        """
        return cls(attributes_from(record))
