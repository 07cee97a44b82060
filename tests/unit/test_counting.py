"""Counting reports at rest: the same tally from everywhere, and nothing impossible in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from deniable import bulk, channels
from deniable.channels import SystemCoin
from deniable.counting import count, distinct
from deniable.errors import DataError, DeniableError, TallyError
from deniable.protocol import (
    Block,
    Design,
    Group,
    Report,
    Rule,
    View,
    first_block,
    tally_from_bytes,
    tally_of,
)
from deniable.protocol.at_rest import PROVENANCE_KEY, Provenance, provenance_from_bytes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deniable.channels import Channel

A, B, C = Group((0,), (3,)), Group((1,), (6,)), Group((0, 1), (3, 6))
NAMES = (("a", 3), ("b", 6))
SETS = channels.subset(1.0, 6, 2)


def design(kind: str) -> Design:
    """Ask two attributes in one of several ways."""
    three, six, both = channels.k_ary(1.0, 3), channels.subset(1.0, 6, 2), channels.k_ary(1.0, 18)
    laid: dict[str, tuple[list[list[Group]], list[list[Channel]]]] = {
        "columns": ([[A, B]], [[three, six]]),
        "one group": ([[C]], [[both]]),
        "views alike": ([[A], [C]], [[three], [both]]),
        "views unlike": ([[A, B], [B], [A]], [[three, six], [six], [three]]),
        "bits": ([[A, B]], [[three, channels.optimized_unary(1.0, 6)]]),
        "hashes": ([[B], [A]], [[channels.local_hash(1.0, 6)], [three]]),
    }
    groups, rows = laid[kind]
    views = tuple(View(tuple(view)) for view in groups)
    return Design("count", "-", NAMES, views, tuple(map(tuple, rows)), "9")


KINDS = ["columns", "one group", "views alike", "views unlike", "bits", "hashes"]


def answers(rows: int = 2000) -> pa.Table:
    """Answer both attributes."""
    rng = np.random.default_rng(2)
    return pa.table({"a": rng.integers(0, 3, rows), "b": rng.integers(0, 6, rows)})


def about(reports: pa.Table) -> Provenance:
    """Return what a table of reports says about itself."""
    return provenance_from_bytes(reports.schema.metadata[PROVENANCE_KEY])


def one_by_one(reports: pa.Table) -> list[Report]:
    """Turn rows into the reports that a server would have accepted."""
    provenance = about(reports)
    (block,) = provenance.blocks
    found = []
    for row in reports.to_pylist():
        view = row.pop("view", 0)
        flat = [n for v in row.values() for n in (v if isinstance(v, list) else [v])]
        values = []
        for channel in block.channels[view]:
            values.append(tuple(flat[: channel.width]))
            flat = flat[channel.width :]
        report = Report(provenance.design.digest, block.digest, bytes(16), view, tuple(values))
        found.append(report)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("joint", [False, True])
def test_a_count_is_the_tally_of_its_reports(kind: str, joint: bool) -> None:  # noqa: FBT001
    """Counting columns gives what counting report by report gives."""
    reports = bulk.randomize(answers(), design(kind))
    provenance = about(reports)
    wanted = tally_of(
        provenance.design,
        provenance.blocks,
        one_by_one(reports),
        source=provenance.source,
        joint=joint,
    )
    counted = count(reports, joint=joint)
    assert counted.tally() == wanted
    assert counted.rejected == {}
    assert tally_from_bytes(counted.tally().to_bytes()) == wanted


PLACES: dict[str, Callable[[pa.Table], Any]] = {
    "reader": lambda table: table.to_reader(300),
    "chunks": lambda table: pa.concat_tables([table.slice(0, 7), table.slice(7)]),
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "polars lazy": lambda table: pl.DataFrame(table).lazy(),
    "duckdb": lambda table: duckdb.from_arrow(table.replace_schema_metadata()),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("joint", [False, True])
def test_every_place_gives_the_same_tally(kind: str, place: str, joint: bool) -> None:  # noqa: FBT001
    """Arrow, data frames, and engines that group for themselves agree."""
    reports = bulk.randomize(answers(), design(kind))
    found = count(PLACES[place](reports), about=about(reports), joint=joint)
    assert found.tally() == count(reports, joint=joint).tally()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_file_says_all_that_counting_needs(kind: str, ending: str, tmp_path: Path) -> None:
    """Nothing but the path is given; ids are passed over."""
    pq.write_table(answers(), tmp_path / "answers.parquet")
    target = tmp_path / f"reports.{ending}"
    written = bulk.randomize_file(
        tmp_path / "answers.parquet", target, design(kind), ids=True, unsafe_seed=3
    )
    counted = count(target)
    wanted = count(bulk.randomize(answers(), design(kind), unsafe_seed=3)).tally()
    assert counted.tally() == wanted
    assert counted.tally().sources == {written.provenance.source}


def spoiled(kind: str, **columns: object) -> Any:  # noqa: ANN401 -- Counted
    """Count reports into which some rows were put by hand."""
    made = design(kind)
    provenance = Provenance(made, (first_block(made),), "by hand")
    return count(pa.table(columns), about=provenance)


def test_a_hostile_number_is_credited_to_no_cell() -> None:
    """A −1 is not the last category, nor is a number beyond the last the first."""
    made = channels.k_ary(1.0, 3)
    one = Design("one", "-", (("a", 3),), (View((A,)),), ((made,),), "1")
    for dtype in (pa.int8(), pa.int64()):
        column = pa.array([0, 1, -1, 2, 3, 127, None], dtype)
        counted = count(pa.table({"a": column}), about=one, source="x")
        ((seen,),) = (counted.strata,)
        assert seen.values.tolist() == [[0], [1], [2]]
        assert seen.counts.tolist() == [1, 1, 1]
        assert counted.rejected == {"impossible": 3, "missing": 1}


def test_large_and_broken_numbers_are_impossible() -> None:
    """Fractions, NaN, numbers of 64 bits and words are no reports."""
    column = pa.array([1.0, 0.5, float("inf"), 1e300])
    one = Design("one", "-", (("a", 3),), (View((A,)),), ((channels.k_ary(1.0, 3),),), "1")
    assert count(pa.table({"a": column}), about=one, source="x").rejected == {"impossible": 3}
    column = pa.array([2**64 - 1, 2**63, 2], pa.uint64())
    assert count(pa.table({"a": column}), about=one, source="x").rejected == {"impossible": 2}
    column = pa.array(["1", "-1", "x", "", "01", None])
    for texts in (column, column.dictionary_encode()):
        counted = count(pa.table({"a": texts}), about=one, source="x")
        assert counted.rejected == {"impossible": 3, "missing": 2}
    column = pa.array(["0 1", "1", "0 1 2", "", None, "2 5", "0 1"])
    for texts in (column, column.dictionary_encode(), column.dictionary_encode().slice(1)):
        sets = Design("s", "-", NAMES[1:], (View((Group((0,), (6,)),)),), ((SETS,),), "9")
        counted = count(pa.table({"b": texts}), about=sets, source="x")
        assert counted.rejected == {"length": 2, "missing": 2}
        assert counted.strata[0].counts.tolist() == [len(texts) - 5, 1]


def test_a_report_with_one_impossible_part_counts_nowhere() -> None:
    """Sets must ascend and have the right length; what is wrong in one group spoils the row."""
    counted = spoiled("columns", a=[0, 1, 2, 3, 0], b=[[0, 1], [1, 0], [2, 2], [0, 1], [4, 5]])
    assert counted.tally().total == 2
    assert counted.rejected == {"impossible": 3}
    counted = spoiled("columns", a=[0, 1, 2, 0], b=[[0, 1], [1], [0, 1, 2], None])
    assert counted.tally().total == 1
    assert counted.rejected == {"length": 2, "missing": 1}


def test_views_that_do_not_exist_are_rejected() -> None:
    """So are values that do not fit their view."""
    counted = spoiled(
        "views unlike",
        view=[0, 1, 2, 3, -1, 2, 1],
        values=[[0, 1, 2], [0, 5], [2], [1], [1], [0, 1], [0]],
    )
    assert counted.tally().total == 3
    assert counted.rejected == {"view": 2, "length": 2}


def test_an_engine_rejects_by_as_many_rows_as_were_alike() -> None:
    """Where equal rows come grouped, each of them is counted among the rejected."""
    made = design("views alike")
    frame = pl.LazyFrame({"view": [0, 0, 0, 7, 7, 1], "values": [1, -1, -1, 0, 0, 17]})
    counted = count(frame, about=made, source="x")
    assert counted.rejected == {"impossible": 2, "view": 2}
    assert counted.tally().total == 2


def test_a_report_that_never_occurs_is_impossible() -> None:
    """A column of a matrix without any probability is no report; a hash stays in its field."""
    made = channels.Matrix(((2**31, 0, 2**31), (2**30, 0, 3 * 2**30)))
    one = Design("m", "-", (("a", 2),), (View((Group((0,), (2,)),)),), ((made,),), "9")
    counted = count(pa.table({"a": [0, 1, 2, 3]}), about=one, source="x")
    assert counted.rejected == {"impossible": 2}


def test_blocks_are_counted_apart_and_unknown_ones_rejected() -> None:
    """A column of block numbers sends each row to the channels of its block."""
    first, later = channels.two_coin(1.0, [0.2, 0.8]), channels.two_coin(1.0, [0.5, 0.5])
    one = Design(
        "b", "-", (("a", 2),), (View((Group((0,), (2,)),)),), ((first,),), "1",
        rule=Rule("classic-blocks", 4),
    )  # fmt: skip
    blocks = (first_block(one), Block(one.digest, 1, ((later,),)))
    table = pa.table({"a": [0, 1, 1, 0], "block": [0, 1, 1, 2]})
    counted = count(table, about=Provenance(one, blocks, "x"))
    assert [(s.stratum.block, s.counts.tolist()) for s in counted.strata] == [(0, [1]), (1, [2])]
    assert counted.rejected == {"block": 1}
    with pytest.raises(DataError, match="lack the column 'block'"):
        count(table.select(["a"]), about=Provenance(one, blocks, "x"))


def test_tallies_of_parts_add_up_and_none_counts_twice() -> None:
    """Two files of one design give the tally of both; the same file again is refused."""
    made = design("columns")
    parts = [bulk.randomize(answers(), made) for _ in range(2)]
    first, second = (count(part).tally() for part in parts)
    assert first.plus(second).total == 4000
    with pytest.raises(TallyError, match="already added"):
        first.plus(count(parts[0]).tally())


def test_reports_must_say_what_they_are() -> None:
    """Without provenance, design and source must be given; another design is refused."""
    made, other = design("columns"), design("bits")
    bare = bulk.randomize(answers(), made).replace_schema_metadata()
    with pytest.raises(DataError, match="does not say for which design"):
        count(bare)
    with pytest.raises(DataError, match="source="):
        count(bare, about=made)
    assert count(bare, about=made, source="mine").tally().sources == {"mine"}
    with pytest.raises(DataError, match="another design"):
        count(bulk.randomize(answers(), made), about=other)
    with pytest.raises(DataError, match="lack the column 'b'"):
        count(bare.drop_columns(["b"]), about=made, source="mine")
    with pytest.raises(DataError, match="holds no reports"):
        count(bare.set_column(0, "a", pa.array([True] * 2000)), about=made, source="mine")


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b"{}", b'{"deniable":1}', b"\xff", b'"text"', b"[" * 100_000]
)
def test_damaged_provenance_is_one_clear_error(data: bytes) -> None:
    """Whatever stands in a file's metadata, the error is ours."""
    with pytest.raises(DeniableError):
        provenance_from_bytes(data)


def test_many_different_reports_are_merged_as_they_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """Long reports that hardly repeat are counted right across merges."""
    monkeypatch.setattr(distinct, "_FIRST_MERGE", 100)
    made = channels.subset(1.0, 60, 30)
    one = Design("d", "-", (("a", 60),), (View((Group((0,), (60,)),)),), ((made,),), "1")
    coin = SystemCoin()
    reports = [made.randomize(5, coin) for _ in range(500)]
    table = pa.table({"a": pa.array([list(r) for r in reports * 3])})
    (seen,) = count(table.to_reader(50), about=one, source="x").strata
    assert sorted(map(tuple, seen.values.tolist())) == sorted(set(reports))
    assert set(seen.counts.tolist()) == {3}
