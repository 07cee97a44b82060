"""Where the analysis commands read from: a file of reports, or a tally."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deniable.cli.terminal import note, progress
from deniable.errors import DataError
from deniable.protocol import tally_from_bytes
from deniable.schema import Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from deniable.estimation import Axis
    from deniable.estimation.observation import Source
    from deniable.protocol import Design


@dataclass(frozen=True, slots=True)
class OpenSource:
    """Reports, and what their categories are called.

    Attributes:
        reports: What the estimators take.
        design: The design they were made under.
        categories: The names of each attribute's categories, where they are known.
        schema: The schema they were asked by, where it is known.
    """

    reports: Source
    design: Design
    categories: Mapping[str, tuple[str, ...]]
    schema: Schema | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the attributes."""
        return self.design.names

    def axes(self, names: Sequence[str]) -> tuple[Axis, ...]:
        """Return attributes with the names of their categories, or their places."""
        from deniable.estimation.table import Axis  # noqa: PLC0415 -- slow to load

        sizes = dict(zip(self.design.names, self.design.sizes, strict=True))
        return tuple(
            Axis(name, tuple(self.categories.get(name) or map(str, range(sizes[name]))))
            for name in names
        )


def open_source(path: Path, survey_file: Path | None = None) -> OpenSource:
    """Open a tally (``.json``), or count a file of reports with the groups kept together."""
    schema = None if survey_file is None else Survey.load(survey_file).schema
    reports: Source
    if path.suffix == ".json":
        reports = tally_from_bytes(path.read_bytes())
        design = reports.design
    else:
        from deniable.counting import count  # noqa: PLC0415 -- slow to load

        with progress("Counting", None) as done:
            reports = count(path, joint=True, progress=done)
        design = reports.provenance.design
        left_out = sum(reports.rejected.values())
        if left_out:
            note(f"{left_out:,} rows are no reports and were not counted.")
        if schema is None and reports.provenance.survey is not None:
            schema = Survey.from_dict(reports.provenance.survey).schema
    if schema is not None and (schema.names, schema.sizes) != (design.names, design.sizes):
        problem = "the survey does not fit the design of the reports"
        raise DataError(problem, given=list(schema.names), expected=", ".join(design.names))
    categories = {} if schema is None else _categories(schema)
    return OpenSource(reports, design, categories, schema)


def _categories(schema: Schema) -> dict[str, tuple[str, ...]]:
    return {
        attribute.name: tuple(category.name for category in attribute.categories)
        for attribute in schema.attributes
    }
