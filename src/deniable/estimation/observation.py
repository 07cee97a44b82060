"""What reports say about some attributes: every sight of their table, and nothing else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from deniable.errors import EstimationError, nearest
from deniable.estimation.collected import Collected, collected_from
from deniable.estimation.distinct import distinct_rows
from deniable.estimation.evidence import Batch, Evidence
from deniable.estimation.reduce import Slices, is_exact, lens_of, places_of
from deniable.estimation.roll import Roll
from deniable.estimation.sight import Lattice, Sight
from deniable.protocol import Tally

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from deniable.channels import Channel
    from deniable.counting import Counted
    from deniable.estimation.lens import Lens
    from deniable.protocol import Block, Design, Stratum

Source: TypeAlias = "Tally | Counted | Evidence"
"""Where an estimate may start: what was counted under a design, or the reports themselves."""

FEWEST_GRID = 2**18
"""A grid of report values up to this size is laid out whatever the number of reports."""

MOST_GRID = 2**28
"""The largest grid that is laid out: 2 GiB."""


Lenses: TypeAlias = "dict[tuple[Channel, Slices], Lens]"


class Asked(NamedTuple):
    """A batch of reports, the block and view it belongs to, and all that was answered there."""

    block: int
    view: int
    batch: Batch
    channels: tuple[Channel, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """Everything that was seen of a table.

    Attributes:
        names: The table's attributes, in the order asked for.
        shape: Their numbers of cells.
        sights: One for each block, view and set of groups counted together.
        people: How many respondents answered at least one of the attributes.
        design: The digest of the design.
        exact: Whether the reduced likelihood of every sight is exact.
        collected: How the reports were made, where that is known.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    sights: tuple[Sight, ...]
    people: int
    design: str
    exact: bool = True
    collected: Collected | None = None

    @property
    def covering(self) -> tuple[Sight, ...]:
        """Return the sights in which all the attributes were answered by one person."""
        return tuple(sight for sight in self.sights if len(sight.order) == len(self.shape))

    @property
    def cells(self) -> int:
        """Return the number of the table's cells."""
        return math.prod(self.shape)


def observe(source: Source, attributes: Sequence[str]) -> Observation:
    """Return what a tally or evidence says about some attributes.

    Raises:
        EstimationError: There is no report, or an attribute is unknown or was never asked.
    """
    names = tuple(attributes)
    asked = asked_of(source)
    known, sizes = attributes_of(source)
    wanted = positions_of(known, names)
    found: list[tuple[Sight, Asked, bool]] = []
    known_lenses: Lenses = {}
    for one in asked:
        batch = one.batch
        met = [g for g, group in enumerate(batch.groups) if set(group) & set(wanted)]
        if not met:
            continue
        slices = [slices_of(batch.groups[g], sizes, wanted) for g in met]
        exact = all(map(is_exact, (batch.channels[g] for g in met), slices))
        found.append((_sight(one, met, slices, wanted, known_lenses), one, exact))
    if not found:
        problem = "no report tells anything about " + " or ".join(map(repr, names))
        raise EstimationError(problem, expected="a view that asks it")
    if any(exact and len(sight.order) == len(names) for sight, _, exact in found):
        # The whole table is seen exactly: what is only seen roughly is left out.
        found = [one for one in found if one[2]]
    sights = tuple(sight for sight, _, _ in found)
    people = {(one.block, one.view): one.batch.people for _, one, _ in found}
    exact = all(one[2] for one in found)
    shape = tuple(sizes[position] for position in wanted)
    design = design_of(source)
    digest = "" if design is None else design.digest
    told = [(one.block, one.view, one.channels) for _, one, _ in found]
    return Observation(
        names, shape, sights, sum(people.values()), digest, exact, collected_from(told)
    )


def require_together(observation: Observation) -> tuple[Sight, ...]:
    """Return the sights of the whole table, or say which view would be needed."""
    if not observation.covering:
        asked = ", ".join(observation.names)
        problem = f"no reports on {asked} by the same person were counted together"
        expected = (
            f"a view whose groups hold {asked}, best as one group, and a tally that keeps the "
            "groups of a view together (count --joint); or a model of the whole joint"
        )
        raise EstimationError(problem, expected=expected)
    return observation.covering


def enclosing(source: Source, attributes: Sequence[str]) -> tuple[str, ...]:
    """Return the attributes, and those without which their exact likelihood is not known.

    A bare matrix or a hash over a group tells its cells apart in a way that cannot be
    reduced to some of the group's attributes; the whole group is needed then.
    """
    known, sizes = attributes_of(source)
    wanted = list(positions_of(known, tuple(attributes)))
    widened = list(wanted)
    for asked in asked_of(source):
        batch = asked.batch
        rough, met = [], set[int]()
        for group, channel in zip(batch.groups, batch.channels, strict=True):
            here = set(group) & set(wanted)
            met |= here
            if here and not is_exact(channel, slices_of(group, sizes, wanted)):
                rough += [attribute for attribute in group if attribute not in widened]
        if not rough and len(met) == len(wanted):
            return tuple(attributes)  # ``observe`` leaves out what is only seen roughly
        widened += rough
    return tuple(known[position] for position in widened)


def attributes_of(source: Source) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return the names and the numbers of cells of all attributes."""
    if isinstance(source, Evidence):
        return source.names, source.sizes
    design = source.design if isinstance(source, Tally) else source.provenance.design
    return design.names, design.sizes


def design_of(source: Source) -> Design | None:
    """Return the design under which the reports were made, where the source knows it."""
    if isinstance(source, Evidence):
        return None
    return source.design if isinstance(source, Tally) else source.provenance.design


def evidence_of(source: Source) -> Evidence:
    """Return the reports themselves as arrays."""
    if isinstance(source, Evidence):
        return source
    names, sizes = attributes_of(source)
    return Evidence(names, sizes, tuple(asked.batch for asked in asked_of(source)))


def asked_of(source: Source) -> list[Asked]:
    """Return the batches with their block and view.

    Without a design each is its own block, and those that asked the same groups one view.
    """
    if isinstance(source, Evidence):
        views: dict[tuple[tuple[int, ...], ...], int] = {}
        return [
            Asked(number, views.setdefault(batch.groups, len(views)), batch, batch.channels)
            for number, batch in enumerate(source.batches)
        ]
    found: list[Asked] = []
    if isinstance(source, Tally):
        design, blocks = source.design, dict(source.blocks)
        for stratum, seen in sorted(source.counts.items()):
            rows = np.array(list(seen), np.int64).reshape(len(seen), -1)
            counts = np.fromiter(seen.values(), np.int64, len(seen))
            found.append(batch_of(design, blocks, stratum, rows, counts))
    else:
        design = source.provenance.design
        blocks = {block.number: block for block in source.provenance.blocks}
        found += [batch_of(design, blocks, s.stratum, s.values, s.counts) for s in source.strata]
    found = [asked for asked in found if asked.batch.people]
    if not found:
        problem = "there is no report to estimate from"
        raise EstimationError(problem, expected="at least one report")
    return found


def batch_of(
    design: Design,
    blocks: Mapping[int, Block],
    stratum: Stratum,
    rows: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> Asked:
    """Return the batch of a stratum whose reports stand one after another in each row."""
    view = design.views[stratum.view]
    channels = [blocks[stratum.block].channels[stratum.view][group] for group in stratum.groups]
    ends = np.cumsum([channel.width for channel in channels])[:-1]
    batch = Batch(
        tuple(view.groups[group].attributes for group in stratum.groups),
        tuple(channels),
        tuple(np.split(rows, ends, axis=1)),
        counts,
    )
    return Asked(stratum.block, stratum.view, batch, blocks[stratum.block].channels[stratum.view])


def positions_of(known: tuple[str, ...], names: tuple[str, ...]) -> tuple[int, ...]:
    """Return where the attributes of a table stand, or say what is wrong with them."""
    if not names:
        problem = "a table needs at least one attribute"
        raise EstimationError(problem, expected="some of " + ", ".join(known))
    for name in names:
        if name not in known:
            problem = f"there is no attribute {name!r} in the design"
            raise EstimationError(problem, expected=nearest(name, known))
    if len(set(names)) != len(names):
        problem = "a table names an attribute twice"
        raise EstimationError(problem, given=list(names), expected="every attribute once")
    return tuple(known.index(name) for name in names)


def slices_of(group: Sequence[int], sizes: Sequence[int], wanted: Sequence[int]) -> Slices:
    """Return how a group's cells fall into those of the attributes that are wanted."""
    return Slices(tuple(sizes[attribute] for attribute in group), places_of(group, wanted))


def _sight(
    asked: Asked,
    met: Sequence[int],
    slices: Sequence[Slices],
    wanted: Sequence[int],
    known: Lenses,
) -> Sight:
    batch = asked.batch
    order: list[int] = []
    sizes: list[int] = []
    lenses: list[Lens] = []
    places: list[NDArray[np.int64]] = []
    for g, part in zip(met, slices, strict=True):
        lens, where = lens_of(batch.channels[g], part, batch.reports[g])
        if lens.complete:  # blocks of one channel share its lens
            lens = known.setdefault((batch.channels[g], part), lens)
        order += [wanted.index(batch.groups[g][place]) for place in part.kept]
        sizes += [part.sizes[place] for place in part.kept]
        lenses.append(lens)
        places.append(where)
    numbers: NDArray[np.float64] = batch.counts.astype(np.float64)
    grid = math.prod(lens.values for lens in lenses)
    common = (asked.block, asked.view, tuple(order), tuple(sizes), tuple(lenses))
    if grid <= FEWEST_GRID or (grid <= MOST_GRID and _all_small(lenses)):
        shape = tuple(lens.values for lens in lenses)
        flat = np.ravel_multi_index(tuple(places), shape)
        return Lattice(*common, _counted(flat, numbers, grid).reshape(shape))
    came = numbers > 0  # a fold keeps the rows of those who are not in it
    sent = np.stack([where[came] for where in places], axis=1)
    distinct, back = distinct_rows(sent)
    rows = tuple(np.ascontiguousarray(column) for column in distinct.T)
    return Roll(*common, rows, _counted(back, numbers[came], len(distinct)))


def _counted(
    places: NDArray[np.int64], numbers: NDArray[np.float64], size: int
) -> NDArray[np.float64]:
    return np.asarray(np.bincount(places, numbers, minlength=size), np.float64)


def _all_small(lenses: Sequence[Lens]) -> bool:
    """Tell whether no lens has many more report values than cells: a grid is then cheaper."""
    return all(lens.values <= 2 * lens.cells for lens in lenses)
