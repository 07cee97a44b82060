"""Reports that a server gave away are counted like any others, once the design is said."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from deniable.channels import SystemCoin, k_ary, subset
from deniable.cli import main
from deniable.counting import count
from deniable.errors import DataError, DigestError
from deniable.protocol import (
    Block,
    Design,
    Group,
    Report,
    Rule,
    View,
    encode_bytes,
    first_block,
    next_block,
    tally_from_bytes,
    tally_of,
)
from deniable.protocol.at_rest import Provenance

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.channels import Channel

A, B = Group((0,), (3,)), Group((1,), (6,))
CHANNELS = (k_ary(1.0, 3), subset(1.0, 6, 2))


def design(kind: str) -> Design:
    """Ask two attributes in one view, or in several."""
    views = {"one view": ((A, B),), "views": ((A, B), (B,), (A,))}[kind]
    known: dict[Group, Channel] = {A: CHANNELS[0], B: CHANNELS[1]}
    rows = tuple(tuple(known[group] for group in view) for view in views)
    attributes = (("a", 3), ("b", 6))
    rule = Rule("classic-blocks", 100)
    return Design("asked", "-" * 43, attributes, tuple(map(View, views)), rows, "9", rule=rule)


KINDS = ["one view", "views"]


def blocks_of(made: Design) -> tuple[Block, Block]:
    """Return two blocks."""
    first = first_block(made)
    return first, next_block(made, first)


def reports_of(made: Design, people: int = 60) -> list[Report]:
    """Answer in both blocks and every view."""
    coin, found = SystemCoin(), []
    for person in range(people):
        block, view = blocks_of(made)[person % 2], person % len(made.views)
        values = tuple(c.randomize(person % 3, coin) for c in block.channels[view])
        found.append(Report(made.digest, block.digest, person.to_bytes(16), view, values))
    return found


def lines(reports: list[Report]) -> str:
    """Write reports as the server does for ``format=jsonl``."""
    return "".join(report.to_bytes().decode() + "\n" for report in reports)


def table(made: Design, reports: list[Report]) -> str:
    """Write reports as the server does for ``format=csv``."""
    numbers = {block.digest: block.number for block in blocks_of(made)}
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["id", "block", "view", "values"])
    for one in reports:
        values = json.dumps(one.values, separators=(",", ":"))
        writer.writerow([encode_bytes(one.identity), numbers[one.block], one.view, values])
    return text.getvalue()


def written(folder: Path, made: Design, form: str, reports: list[Report]) -> Path:
    """Save an export, the design and the second block."""
    (folder / "design.json").write_bytes(made.to_bytes())
    (folder / "block.json").write_bytes(blocks_of(made)[1].to_bytes())
    path = folder / f"export.{form}"
    text = lines(reports) if form == "jsonl" else table(made, reports)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def run(*words: object) -> Result:
    """Run the command line."""
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
@pytest.mark.parametrize("joint", [False, True])
def test_the_command_counts_an_export_as_the_server_would(
    kind: str,
    form: str,
    joint: bool,  # noqa: FBT001
    tmp_path: Path,
) -> None:
    """Both formats give the tally of the reports one by one, under the survey's name."""
    made = design(kind)
    reports = reports_of(made)
    path = written(tmp_path, made, form, reports)
    files = ("--design", tmp_path / "design.json", "--block", tmp_path / "block.json")
    done = run("count", path, *files, "-o", tmp_path / "t.json", *["--joint"] * joint)
    assert done.exit_code == 0, done.output
    wanted = tally_of(made, blocks_of(made), reports, source="export of asked", joint=joint)
    assert tally_from_bytes((tmp_path / "t.json").read_bytes()) == wanted
    done = run("count", path, *files, "-o", tmp_path / "t.json", "--source", "here")
    assert tally_from_bytes((tmp_path / "t.json").read_bytes()).sources == {"here"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_without_its_design_names_the_option(
    kind: str, form: str, tmp_path: Path
) -> None:
    """The sentence says on which command the design is given, and how."""
    path = written(tmp_path, design(kind), form, reports_of(design(kind)))
    done = run("count", path)
    assert done.exit_code == 2
    assert "deniable count --design" in done.stderr
    assert "--block goes with --design" in run("count", path, "--block", path).stderr


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_a_block_that_was_not_given_is_asked_for(form: str, tmp_path: Path) -> None:
    """Its reports are not passed over silently."""
    made = design("views")
    path = written(tmp_path, made, form, reports_of(made))
    done = run("count", path, "--design", tmp_path / "design.json")
    assert done.exit_code == 2
    assert "--block" in done.stderr
    named = blocks_of(made)[1].digest if form == "jsonl" else "'1'"
    assert named in done.stderr


def test_reports_of_another_design_are_refused(tmp_path: Path) -> None:
    """A wrong design is no reason to count nothing."""
    made, other = design("one view"), design("views")
    path = written(tmp_path, made, "jsonl", reports_of(made))
    with pytest.raises(DigestError, match="another design"):
        count(path, about=other, source="x")


@pytest.mark.parametrize("kind", KINDS)
def test_lines_that_are_no_reports_are_counted_by_reason(kind: str, tmp_path: Path) -> None:
    """Nothing that the channels cannot send is credited to any cell."""
    made = design(kind)
    provenance = Provenance(made, blocks_of(made), "x")
    start = "id,block,view,values\n"
    bad = ['i,0,0,"[[0],[1,2],[3]]"', 'i,0,0,"[[0,1],[2]]"', 'i,0,0,"[[-1],[0,1]]"', "i,0,0,no"]
    bad += ['i,0,0,"[[0],[2,1]]"', 'i,0,x,"[[0],[1,2]]"', 'i,0,0,"[[true],[1,2]]"', "i,0", ""]
    (tmp_path / "e.csv").write_text(start + 'i,0,0,"[[0],[1,2]]"\n' + "\n".join(bad) + "\n")
    counted = count(tmp_path / "e.csv", about=provenance)
    assert counted.rejected == {"length": 2, "impossible": 1, "missing": 6}
    assert counted.tally().total == 1
    good = reports_of(made, 1)
    (tmp_path / "e.jsonl").write_text(lines(good) + "{}\nno\n")
    assert count(tmp_path / "e.jsonl", about=provenance).rejected == {"missing": 2}
    far = Report(made.digest, good[0].block, bytes(16), 7, good[0].values)
    (tmp_path / "e.jsonl").write_text(lines([*good, far]))
    reason = "view" if kind == "views" else "missing"
    assert count(tmp_path / "e.jsonl", about=provenance).rejected == {reason: 1}


def test_an_export_without_reports_is_an_empty_tally(tmp_path: Path) -> None:
    """A survey that nobody answered yet has counts of zero, not an error."""
    for form in ("jsonl", "csv"):
        path = written(tmp_path, design("views"), form, [])
        assert count(path, about=design("views"), source="x").tally().total == 0


def test_a_design_said_for_reports_of_another_is_refused(tmp_path: Path) -> None:
    """What a file says about itself is not overruled."""
    made = design("one view")
    path = tmp_path / "r.csv"
    path.write_text("a,b\n0,1 2\n")
    own = Provenance(made, (first_block(made),), "x")
    (tmp_path / "r.csv.provenance.json").write_bytes(own.to_bytes())
    assert count(path).tally().total == 1
    other = design("views")
    with pytest.raises(DataError, match="another design"):
        count(path, about=Provenance(other, (first_block(other),), "x"))
