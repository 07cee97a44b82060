"""Reports at rest: which columns a table of them has, and what it says about itself.

One row a respondent. A design of one view has a column for each group, named by its
attributes (``sex``, ``sex+age``). A design of several views has the column ``view`` and a
column ``values`` with the integers of that view's groups one after another, as a tally
counts them. More than one block makes a column ``block``; ids, where they are kept, are
in ``id``. A column whose reports are always w > 1 integers holds lists of that length.

Everything else that is needed to count and estimate travels beside the rows: the
provenance, in a Parquet file's schema or in a JSON file next to a CSV file.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.channels import LocalHash, Matrix, Unary
from deniable.errors import DataError
from deniable.protocol.block import Block, first_block
from deniable.protocol.canonical import canonical, read_json
from deniable.protocol.design import VERSION, Design
from deniable.protocol.reading import block_from_dict, design_from_dict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.channels import Channel

BLOCK: Final = "block"
VIEW: Final = "view"
VALUES: Final = "values"
ID: Final = "id"

PROVENANCE_KEY: Final = b"deniable"
"""Under this key a table's metadata holds its provenance, as canonical JSON."""

SIDECAR_SUFFIX: Final = ".provenance.json"
"""What is appended to a CSV file's name to name the file that holds its provenance."""

_KEYS = frozenset({"deniable", "design", "blocks", "source", "survey"})


@dataclass(frozen=True, slots=True)
class Column:
    """One column of reports at rest.

    Attributes:
        name: Its name in files.
        width: Integers in each row; 1 for a plain column, 0 where rows differ.
        limit: Every integer is below this.
    """

    name: str
    width: int
    limit: int


def columns_of(design: Design, blocks: Sequence[Block]) -> tuple[Column, ...]:
    """Return the columns that hold the reports themselves, without ``block`` and ``id``."""
    rows = [row for block in blocks for row in block.channels]
    if len(design.views) > 1:
        widths = {sum(channel.width for channel in row) for row in rows}
        limit = max(limit_of(channel) for row in rows for channel in row)
        values = Column(VALUES, widths.pop() if len(widths) == 1 else 0, limit)
        return Column(VIEW, 1, len(design.views)), values
    columns = []
    for place, name in enumerate(group_names(design)):
        channels = [row[place] for row in rows]
        widths = {channel.width for channel in channels}
        width = widths.pop() if len(widths) == 1 else 0
        columns.append(Column(name, width, max(map(limit_of, channels))))
    return tuple(columns)


def group_names(design: Design) -> tuple[str, ...]:
    """Return the names of the groups of a design's only view.

    An attribute called like one of our own columns gets a ``+``, which no attribute's
    name may end with.
    """
    (view,) = design.views
    names = ["+".join(design.names[a] for a in group.attributes) for group in view.groups]
    return tuple(f"{name}+" if name in {BLOCK, VIEW, VALUES, ID} else name for name in names)


def limit_of(channel: Channel) -> int:
    """Return the number below which every integer of a channel's reports stays.

    >>> from deniable.channels import k_ary
    >>> limit_of(k_ary(1.0, 4))
    4
    """
    match channel:
        case Matrix():
            return len(channel.rows[0])
        case Unary():
            return 1 << min(channel.size, 32)
        case LocalHash():
            return channel.prime
        case _:
            return channel.size


@dataclass(frozen=True, slots=True)
class Provenance:
    """What a table of reports says about itself; enough to count it and to estimate.

    Attributes:
        design: The design that every report was made for.
        blocks: The blocks that may occur.
        source: The name under which a tally remembers that it counted this table.
        survey: The survey file's document, where the randomizer had one; else None.
    """

    design: Design
    blocks: tuple[Block, ...]
    source: str
    survey: Mapping[str, object] | None = None

    def to_bytes(self) -> bytes:
        """Return the JSON that travels with the reports."""
        found: dict[str, object] = {
            "deniable": VERSION,
            "design": self.design.to_dict(),
            "blocks": [block.to_dict() for block in self.blocks],
            "source": self.source,
        }
        data = canonical(found)
        if self.survey is None:
            return data
        # A survey holds the edges of bins, which need not be integers.
        survey = json.dumps(self.survey, ensure_ascii=False, separators=(",", ":")).encode()
        return data[:-1] + b',"survey":' + survey + b"}"


def provenance_from_bytes(data: bytes | str) -> Provenance:
    """Read what a table says about itself."""
    try:
        found = json.loads(data)
        survey = found.pop("survey", None)
        found = read_json(json.dumps(found), "the provenance", DataError)
    except (ValueError, AttributeError, TypeError, RecursionError) as error:
        problem = "what these reports say about themselves cannot be read"
        raise DataError(problem, expected="one JSON object") from error
    if not isinstance(found, dict) or set(found) != _KEYS - {"survey"}:
        problem = "what these reports say about themselves is incomplete"
        raise DataError(problem, expected=", ".join(sorted(_KEYS)))
    if found["deniable"] != VERSION or not isinstance(found["blocks"], list):
        problem = "these reports were written by another version"
        raise DataError(problem, given=found["deniable"], expected=str(VERSION))
    if not isinstance(found["source"], str) or not found["source"]:
        problem = "these reports do not name their source"
        raise DataError(problem, expected="a text")
    design = design_from_dict(found["design"])
    blocks = tuple(block_from_dict(block, design) for block in found["blocks"])
    if len({block.number for block in blocks}) != len(blocks):
        problem = "these reports name a block twice"
        raise DataError(problem)
    return Provenance(design, blocks or (first_block(design),), found["source"], survey)
