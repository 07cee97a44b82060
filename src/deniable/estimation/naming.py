"""Names: what the categories of reported attributes are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deniable.estimation.evidence import Evidence
from deniable.protocol import Tally
from deniable.schema import Survey

if TYPE_CHECKING:
    from deniable.estimation.observation import Source


def categories_of(source: Source) -> dict[str, tuple[str, ...]]:
    """Return the names of all attributes' categories, where the source knows its survey."""
    if isinstance(source, Tally | Evidence) or source.provenance.survey is None:
        return {}
    schema = Survey.from_dict(source.provenance.survey).schema
    return {
        attribute.name: tuple(category.name for category in attribute.categories)
        for attribute in schema.attributes
    }
