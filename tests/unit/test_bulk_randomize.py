"""Randomizing whole frames and files: every frame alike, one clear error, nothing half written."""

from __future__ import annotations

import csv
import traceback
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from deniable import bulk
from deniable.bulk import respondents
from deniable.channels import k_ary, two_coin
from deniable.errors import (
    AnswerError,
    DataError,
    DeniableError,
    DigestError,
    PrivacyRefusedError,
)
from deniable.protocol import Block, Design, Group, View, design_for, first_block
from deniable.protocol.at_rest import PROVENANCE_KEY, provenance_from_bytes
from deniable.schema import Attribute, Privacy, Schema, Survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from deniable.schema.privacy import DesignName

SECRET = "none of your business"  # noqa: S105 -- an answer, not a password

SCHEMA = Schema(
    (
        Attribute.nominal("sex", ["female", "male"]),
        Attribute.ordinal("grade", ["low", "middle", "high"], missing="category"),
        Attribute.numeric("age", [0, 30, 60, 120]),
    )
)
DESIGNS: dict[str, tuple[DesignName, dict[str, object]]] = {
    "independent": ("independent", {}),
    "ask one": ("ask-one", {"k": 2}),
    "ask one, sets": ("ask-one", {"k": 2, "channel": "subset"}),
    "joint": ("joint", {"channel": "k-ary"}),
    "clusters": ("clusters", {"clusters": [["sex", "age"]]}),
    "views": ("views", {}),
    "rrba": ("rrba", {}),
}


def survey(name: str = "independent") -> Survey:
    """Ask three questions under a design."""
    design, options = DESIGNS[name]
    return Survey("three", SCHEMA, Privacy(2.0, design, options))


def answers(rows: int = 1000) -> pa.Table:
    """Answer them, and one that nobody asked."""
    rng = np.random.default_rng(3)
    grades = rng.choice(["low", "middle", "high", ""], rows)
    return pa.table(
        {
            "unasked": [SECRET] * rows,
            "age": rng.integers(0, 121, rows),
            "sex": rng.choice(["female", "male"], rows),
            "grade": pa.array([grade or None for grade in grades.tolist()], pa.string()),
        }
    )


FRAMES: dict[str, Callable[[pa.Table], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "pandas categorical": lambda table: table.to_pandas().astype({"sex": "category"}),
    "polars": pl.from_arrow,
    "polars enum": lambda table: pl.DataFrame(table).with_columns(
        pl.col("sex").cast(pl.Enum(["male", "female"]))
    ),
    "polars lazy": lambda table: pl.DataFrame(table).lazy(),
    "duckdb": duckdb.from_arrow,
    "reader": lambda table: table.to_reader(100),
    "chunks": lambda table: pa.concat_tables([table.slice(0, 3), table.slice(3)]),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_every_design_gives_each_respondent_one_possible_report(design: str) -> None:
    """As many reports as rows, each one that the device could have made, and no answer beside."""
    reports = bulk.randomize(answers(), survey(design))
    about = provenance_from_bytes(reports.schema.metadata[PROVENANCE_KEY])
    assert about.design == design_for(survey(design))
    assert reports.num_rows == 1000
    assert SECRET not in str(reports.to_pydict())
    channels = about.blocks[0].channels
    for row in reports.to_pylist():
        view = row.pop("view", 0)
        values = [v if isinstance(v, list) else [v] for v in row.values()]
        flat = [number for value in values for number in value]
        for channel in channels[view]:
            channel.check(tuple(flat[: channel.width]))
            flat = flat[channel.width :]
        assert not flat


@pytest.mark.parametrize("frame", FRAMES)
def test_every_kind_of_frame_gives_the_same_reports(frame: str) -> None:
    """Where answers come from makes no difference."""
    table = answers()
    plain = bulk.randomize(table, survey("ask one"), unsafe_seed=1)
    assert bulk.randomize(FRAMES[frame](table), survey("ask one"), unsafe_seed=1).equals(plain)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("kind", ["csv", "csv.gz", "parquet"])
def test_files_give_the_same_reports_as_frames(design: str, kind: str, tmp_path: Path) -> None:
    """CSV and Parquet in and out hold what the frame's reports hold."""
    source, target = tmp_path / f"answers.{kind}", tmp_path / f"reports.{kind}"
    if kind == "parquet":
        pq.write_table(answers(), source)
    else:
        answers().to_pandas().to_csv(source, index=False)
    written = bulk.randomize_file(source, target, survey(design), unsafe_seed=4, ids=True)
    wanted = bulk.randomize(answers(), survey(design), unsafe_seed=4, ids=True)
    assert written.rows == 1000
    if kind == "parquet":
        found = pq.read_table(target)
        assert found.equals(wanted)
        about = found.schema.metadata[PROVENANCE_KEY]
    else:
        found = pd.read_csv(target, dtype=str)
        for name in wanted.column_names[:-1]:
            texts = [
                " ".join(map(str, v)) if isinstance(v, list) else str(v)
                for v in wanted[name].to_pylist()
            ]
            assert found[name].tolist() == texts
        assert found["id"].str.len().eq(22).all()
        about = (tmp_path / f"reports.{kind}.provenance.json").read_bytes()
    assert provenance_from_bytes(about) == written.provenance
    assert Survey.from_dict(written.provenance.survey) == survey(design)


def test_a_column_that_is_missing_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    """One error says which column is missing and which are there."""
    (tmp_path / "answers.csv").write_text("sex,grades\nmale,low\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"lack the columns 'grade', 'age'; expected.*'grades'"):
        bulk.randomize_file(tmp_path / "answers.csv", tmp_path / "r.parquet", survey())
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("threads", [1, 3])
def test_answers_outside_their_domain_are_counted_not_named(
    kind: str, threads: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All chunks are looked through, the sums are told, no answer is, and nothing is written."""
    monkeypatch.setattr(respondents, "CHUNK_ROWS", 1024)
    frame = answers(5000).to_pandas()
    frame.loc[[7, 4000], "sex"] = SECRET
    frame.loc[4990, "sex"] = None
    frame.loc[[100, 2000, 3000], "age"] = 121
    source, target = tmp_path / f"answers.{kind}", tmp_path / f"reports.{kind}"
    if kind == "csv":
        frame.to_csv(source, index=False)
    else:
        frame.to_parquet(source)
    with pytest.raises(AnswerError, match="3 in 'age', 3 in 'sex'") as caught:
        bulk.randomize_file(source, target, survey(), threads=threads)
    assert SECRET not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == [source.name]


@pytest.mark.parametrize(
    "text",
    [
        f"sex,grade,age\nmale,low,{SECRET},7\n",
        f"sex,grade,age\nmale,{SECRET}\n",
        f'sex,grade,age\nmale,"{SECRET},7\n',
        "",
        f"sex,sex,grade,age\nmale,{SECRET},low,7\n",
    ],
)
def test_a_broken_file_is_refused_without_quoting_it(text: str, tmp_path: Path) -> None:
    """The readers' own errors quote the line; ours do not, not even in the traceback."""
    source = tmp_path / "answers.csv"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(DeniableError) as caught:
        bulk.randomize_file(source, tmp_path / "reports.csv", survey())
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        error = None if error.__suppress_context__ else error.__context__
    assert [path.name for path in tmp_path.iterdir()] == ["answers.csv"]


def test_damaged_parquet_is_refused(tmp_path: Path) -> None:
    """A file cut short is one clear error."""
    source = tmp_path / "answers.parquet"
    pq.write_table(answers(), source)
    source.write_bytes(source.read_bytes()[:-20])
    with pytest.raises(DataError, match="read as parquet; expected a whole Parquet file"):
        bulk.randomize_file(source, tmp_path / "reports.parquet", survey())


def test_reports_that_are_there_stay_unless_they_may_be_replaced(tmp_path: Path) -> None:
    """A second randomization of the same answers is not made by accident."""
    source, target = tmp_path / "answers.parquet", tmp_path / "reports.parquet"
    pq.write_table(answers(), source)
    bulk.randomize_file(source, target, survey())
    first = target.read_bytes()
    with pytest.raises(DataError, match="exists already"):
        bulk.randomize_file(source, target, survey())
    assert target.read_bytes() == first
    bulk.randomize_file(source, target, survey(), replace=True)
    assert target.read_bytes() != first
    with pytest.raises(DataError, match="over the answers"):
        bulk.randomize_file(source, source, survey(), replace=True)


def test_a_failure_while_replacing_leaves_the_old_reports(tmp_path: Path) -> None:
    """The old file is there until the new one is complete."""
    target = tmp_path / "reports.csv"
    target.write_text("old", encoding="utf-8")
    (tmp_path / "answers.csv").write_text("sex,grade,age\nmale,low,-1\n", encoding="utf-8")
    with pytest.raises(AnswerError):
        bulk.randomize_file(tmp_path / "answers.csv", target, survey(), replace=True)
    assert target.read_text(encoding="utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 2


def test_a_target_that_cannot_be_replaced_leaves_no_words_about_it(tmp_path: Path) -> None:
    """Where the reports did not arrive, nothing beside them says what they are."""
    (tmp_path / "answers.csv").write_text("sex,grade,age\nmale,low,7\n", encoding="utf-8")
    (tmp_path / "reports.csv").mkdir()
    with pytest.raises(OSError, match=r"reports\.csv"):
        bulk.randomize_file(
            tmp_path / "answers.csv", tmp_path / "reports.csv", survey(), replace=True
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["answers.csv", "reports.csv"]


@pytest.mark.parametrize("name", ["reports.sav", "reports", "nowhere/reports.csv"])
def test_a_target_that_cannot_be_written_is_refused_first(name: str, tmp_path: Path) -> None:
    """Before anything is read, a wrong ending or folder is an error."""
    with pytest.raises(DataError):
        bulk.randomize_file(tmp_path / "missing.csv", tmp_path / name, survey())


def test_only_a_seed_makes_reports_repeatable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs differ; two runs with a seed do not, however many threads there are."""
    monkeypatch.setattr(respondents, "CHUNK_ROWS", 1024)
    table = answers(5000)
    assert bulk.randomize(table, survey()) != bulk.randomize(table, survey())
    seeded = [bulk.randomize(table, survey(), unsafe_seed=8, threads=n) for n in (1, 2, 5)]
    assert seeded[0].equals(seeded[1])
    assert seeded[0].equals(seeded[2])
    assert not seeded[0].equals(bulk.randomize(table, survey(), unsafe_seed=9))


def truthful(size: int) -> Design:
    """Ask one question through a channel that almost always tells the truth."""
    view = View((Group((0,), (size,)),))
    return Design("truth", "-", (("a", size),), (view,), ((k_ary(30.0, size),),), "44")


def test_reports_are_shuffled_unless_order_is_kept() -> None:
    """Kept reports stand where their answers do; shuffled ones do not, but none is lost."""
    size = 2**14
    frame = {"a": pa.array(np.arange(size, dtype=np.uint16))}
    kept = bulk.randomize(pa.table(frame), truthful(size), order="kept")["a"].to_numpy()
    mixed = bulk.randomize(pa.table(frame), truthful(size))["a"].to_numpy()
    assert np.count_nonzero(kept == np.arange(size)) > 0.95 * size
    assert np.count_nonzero(mixed == np.arange(size)) < 50
    assert len(set(mixed.tolist())) > 0.95 * size
    with pytest.raises(DataError, match="'shuffled' or 'kept'"):
        bulk.randomize(pa.table(frame), truthful(size), order="sorted")  # type: ignore[arg-type]


def test_a_word_that_means_nothing_is_refused() -> None:
    """A slip in a keyword is not passed over, nor is a number of threads that is none."""
    wrong: dict[str, Any] = {"thread": 2}
    with pytest.raises(TypeError, match="'thread'; did you mean 'threads'"):
        bulk.randomize(answers(), survey(), **wrong)
    numbers: list[Any] = [0, -1, 1.5]
    for threads in numbers:
        with pytest.raises(DataError, match="whole number above 0"):
            bulk.randomize(answers(), survey(), threads=threads)


def test_ids_are_all_different() -> None:
    """Each report gets sixteen bytes of its own."""
    reports = bulk.randomize(answers(5000), survey(), ids=True)
    assert len(set(reports["id"].to_pylist())) == 5000


def test_progress_adds_up_to_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever watches is told of every row once."""
    monkeypatch.setattr(respondents, "CHUNK_ROWS", 1024)
    seen: list[int] = []
    bulk.randomize(answers(5000), survey(), progress=seen.append)
    assert sum(seen) == 5000
    assert len(seen) == 5


def test_no_answers_make_no_reports(tmp_path: Path) -> None:
    """An empty frame or file is not an error and has the right columns."""
    empty = bulk.randomize(answers().slice(0, 0), survey("ask one"))
    assert (empty.num_rows, empty.column_names) == (0, ["view", "values"])
    pq.write_table(answers().slice(0, 0), tmp_path / "a.parquet")
    assert bulk.randomize_file(tmp_path / "a.parquet", tmp_path / "r.csv", survey()).rows == 0
    with (tmp_path / "r.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["sex", "grade", "age"]]


def test_a_design_alone_takes_cells() -> None:
    """Without a survey the answers are 0, 1, …; a −1 or a name is outside."""
    design = truthful(3)
    assert bulk.randomize(pa.table({"a": [0, 1, 2]}), design).num_rows == 3
    for wrong in ([0, -1], [0, 3], ["0", "a"], [None, 1], [0.5, 1]):
        with pytest.raises(AnswerError, match="1 in 'a'"):
            bulk.randomize(pa.table({"a": wrong}), design)


def test_another_block_brings_its_own_channels() -> None:
    """A later block of an adaptive design is used if it is given, and only if it fits."""
    design = design_for(survey("rrba"))
    later = Block(design.digest, 3, design.channels)
    reports = bulk.randomize(answers(), survey("rrba"), block=later)
    about = provenance_from_bytes(reports.schema.metadata[PROVENANCE_KEY])
    assert about.blocks == (later,)
    with pytest.raises(DigestError, match="another design"):
        bulk.randomize(answers(), survey("joint"), block=first_block(design))


def test_a_block_that_breaks_the_promise_of_its_design_is_refused() -> None:
    """What a device would refuse is not spent on a whole frame either."""
    design = design_for(survey("rrba"))
    views = [[group.size for group in view.groups] for view in design.views]
    costly = tuple(tuple(two_coin(9.0, [1 / m] * m) for m in view) for view in views)
    with pytest.raises(PrivacyRefusedError, match="cost more privacy"):
        bulk.randomize(answers(), survey("rrba"), block=Block(design.digest, 3, costly))
    bare = tuple(
        tuple(two_coin(0.1, [0.98, *[0.02 / (m - 1)] * (m - 1)]) for m in view) for view in views
    )
    with pytest.raises(PrivacyRefusedError, match="floor"):
        bulk.randomize(answers(), survey("rrba"), block=Block(design.digest, 3, bare))
    with pytest.raises(PrivacyRefusedError, match="changed channels"):
        bulk.randomize(answers(), plain := design_for(survey()), block=weaker(plain))


def weaker(design: Design) -> Block:
    """Return a block of a fixed design with other channels, even if they cost less."""
    channels = tuple(tuple(k_ary(0.1, g.size) for g in view.groups) for view in design.views)
    return Block(design.digest, 1, channels)


def test_what_is_no_frame_is_refused() -> None:
    """A list is not guessed at."""
    with pytest.raises(DataError, match="no data frame"):
        bulk.randomize([[1, 2]], truthful(3))


def test_what_promises_nothing_is_refused() -> None:
    """The name of a survey file is not the survey."""
    wrong: Any = "survey.toml"
    with pytest.raises(DataError, match=r"neither \(given: 'str'\); expected such as Survey.load"):
        bulk.randomize(answers(), wrong)


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pd.DataFrame({"a": [0, SECRET, 1], "b": [1, 2, 3]}), "column 'a' is not of one type"),
        (pd.DataFrame({"a": [SECRET, 0, 1]}), "column 'a' is not of one type"),
        (pd.DataFrame({"a": [1j]}), "column 'a' is not of one type"),
        (pd.DataFrame([[0, 1]], columns=["a", "a"]), "column 'a' is there more"),
        (pa.table([[0], [1]], ["a", "a"]), "column 'a' is there more than once"),
        (pl.LazyFrame({"a": [SECRET]}).select(pl.col("a").cast(pl.Int64)), "cannot be read"),
        ("select cast('none of your business' as int) as a", "cannot be read"),
    ],
)
def test_a_frame_that_cannot_be_read_is_refused_without_quoting_it(
    frame: object, words: str
) -> None:
    """Every library quotes the value at which it stumbled; our sentence does not."""
    if isinstance(frame, str):  # a query; a relation kept until the end of Python is a leak
        frame = duckdb.sql(frame)
    for work in (lambda: bulk.randomize(frame, truthful(3)), lambda: bulk.infer_schema(frame)):
        with pytest.raises(DataError) as caught:
            work()
        assert SECRET not in "".join(traceback.format_exception(caught.value))
    with pytest.raises(DataError, match=words):
        bulk.randomize(frame, truthful(3))
