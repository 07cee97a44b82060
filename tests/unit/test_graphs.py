"""Graphs as their users meet them: who is asked, what is kept, what is said, what is refused."""

from __future__ import annotations

import json
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from click.testing import CliRunner

from deniable.channels import epsilon_of, k_ary, optimized_unary, rounded_laplace, two_coin, warner
from deniable.cli import main
from deniable.errors import AnswerError, ChannelError, DataError, EstimationError, ReportError
from deniable.graphs import (
    GraphReports,
    Roster,
    edge_channel,
    estimate_degrees,
    estimate_edges,
    estimate_triangles,
    foresee,
    gather,
    graph_of,
    randomize_contacts,
    randomize_graph,
    read_graph,
    read_names,
)
from deniable.graphs.randomize import randomize_through
from deniable.testing import UnsafeSeededCoin

if TYPE_CHECKING:
    from pathlib import Path

    from deniable.channels import Channel
    from deniable.graphs import Graph

NAMES = tuple("abcdefghijklmnopqrstuvwxyz")


def town(people: int = 60, edges: int = 150) -> Graph:
    """Return a random graph, the same each time."""
    rng = np.random.default_rng(8)
    names = [f"p{place}" for place in range(people)]
    pairs = list(combinations(names, 2))
    chosen = rng.choice(len(pairs), edges, replace=False)
    return graph_of(names, [pairs[place] for place in chosen])


@pytest.mark.parametrize("count", [3, 4, 5, 6, 9, 10])
def test_every_pair_is_asked_once_and_nobody_has_more_to_say(count: int) -> None:
    """With one end each pair once, and what people are asked differs by one at most."""
    roster = Roster(NAMES[:count])
    asked = [(name, other) for name in roster.names for other in roster.asked(name)]
    assert sorted(map(sorted, asked)) == sorted(map(list, combinations(roster.names, 2)))
    loads = [len(roster.asked(name)) for name in roster.names]
    assert max(loads) - min(loads) <= 1


def test_with_two_ends_everybody_is_asked_about_everybody() -> None:
    """Each pair twice."""
    roster = Roster(NAMES[:5], 2)
    assert all(sorted((*roster.asked(n), n)) == list(roster.names) for n in roster.names)


def test_devices_and_the_whole_graph_at_once_give_the_same_without_lies() -> None:
    """Through a channel that nearly never lies, what is estimated is what there is."""
    graph = town()
    channel = warner(1 - 1e-9)
    roster = Roster(graph.names)
    coin = UnsafeSeededCoin(3)
    said = {
        name: randomize_contacts(
            {other for other, near in zip(graph.names, row, strict=True) if near},
            name,
            roster,
            channel,
            coin,
        )
        for name, row in zip(graph.names, graph.joined, strict=True)
    }
    by_device = gather(roster, channel, said)
    at_once = randomize_through(graph, channel, unsafe_seed=3)
    assert by_device.to_bytes() == at_once.to_bytes()
    assert estimate_degrees(at_once).values == pytest.approx(graph.degrees, abs=1e-5)
    triangles = estimate_triangles(at_once)
    assert triangles.of_each.values == pytest.approx(graph.triangles, abs=1e-4)
    assert triangles.total.value == pytest.approx(graph.triangles.sum() / 3, abs=1e-4)
    assert estimate_edges(at_once).value == pytest.approx(graph.edges, abs=1e-4)


def test_triangles_are_counted_as_one_would_by_hand() -> None:
    """Against all triples of people."""
    graph = town(20, 70)
    found = np.zeros(20, int)
    for three in combinations(range(20), 3):
        if all(graph.joined[pair] for pair in combinations(three, 2)):
            found[list(three)] += 1
    assert graph.triangles.tolist() == found.tolist()
    assert found.sum() > 0


def test_an_edge_costs_epsilon_however_many_report_it() -> None:
    """Two ends have half of ε each; the same channel at both costs twice."""
    graph = town()
    for ends in (1, 2):
        reports = randomize_graph(graph, 1.0, ends=ends, unsafe_seed=1)
        assert 0.999 < reports.epsilon <= 1.0
    twice = randomize_through(graph, k_ary(1.0, 2), ends=2, unsafe_seed=1)
    assert twice.epsilon == pytest.approx(2 * epsilon_of(k_ary(1.0, 2)))
    assert twice.epsilon_of_person == pytest.approx(2 * 59, rel=1e-6)
    assert foresee(60, 150, 1.0, ends=2).degree > foresee(60, 150, 1.0).degree


def test_reports_are_read_back_as_they_were(tmp_path: Path) -> None:
    """With those who did not answer, and through another channel that fits."""
    graph = town(11, 20)
    reports = randomize_through(graph, rounded_laplace(1.0, 2), unsafe_seed=2)
    answered = reports.answered.copy()
    answered[[1, 7]] = False
    some = GraphReports(reports.roster, reports.channel, reports.bits, answered)
    path = tmp_path / "reports.json"
    path.write_bytes(some.to_bytes())
    again = GraphReports.from_bytes(path.read_bytes())
    assert again.channel == reports.channel
    assert again.answered.tolist() == answered.tolist()
    assert again.bits[answered].tolist() == reports.bits[answered].tolist()
    assert again.to_bytes() == some.to_bytes()


def test_those_who_did_not_answer_are_left_out_and_that_is_said() -> None:
    """The graph is that of the others; the estimate says so."""
    graph = town()
    whole = randomize_through(graph, warner(1 - 1e-9), unsafe_seed=2)
    answered = np.arange(60) % 5 != 0
    some = GraphReports(whole.roster, whole.channel, whole.bits, answered)
    inside = graph.joined[np.ix_(answered, answered)]
    degrees = estimate_degrees(some)
    assert degrees.people == tuple(np.array(graph.names)[answered])
    assert degrees.values == pytest.approx(inside.sum(axis=1), abs=1e-5)
    edges = estimate_edges(some)
    assert edges.value == pytest.approx(inside.sum() / 2, abs=1e-4)
    assert edges.notes == ("12 did not answer, and the graph is that of the others",)
    nobody = GraphReports(whole.roster, whole.channel, whole.bits, np.arange(60) < 2)
    with pytest.raises(EstimationError, match="at least 3"):
        estimate_degrees(nobody)


def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    """Degrees, edges and triangles over 200 seeded surveys; with the errors of another ε not."""
    graph = town()
    true = graph.degrees, graph.triangles, graph.edges, graph.triangles.sum() / 3
    held: list[list[float]] = []
    for seed in range(200):
        reports = randomize_graph(graph, 2.0, unsafe_seed=seed)
        degrees, triangles = estimate_degrees(reports), estimate_triangles(reports)
        rows = [
            float(np.mean((low <= one) & (one <= high)))
            for one, (low, high) in zip(
                true[:2], (degrees.interval(), triangles.of_each.interval()), strict=True
            )
        ]
        totals = [estimate_edges(reports).interval(), triangles.total.interval()]
        held.append(
            [*rows, *(float(b.holds(one)) for b, one in zip(totals, true[2:], strict=True))]
        )
    covered = np.mean(held, axis=0)
    assert covered.min() > 0.93
    assert covered[:2].max() < 0.99
    error = foresee(60, 150, 2.0).degree
    assert foresee(60, 150, 3.0).degree < 0.7 * error  # the interval of ε = 3 would hold .82


def test_what_is_foreseen_is_what_the_reports_say() -> None:
    """Exactly for degrees and edges; for triangles as far as the graph is like a random one."""
    graph = town()
    outcome = foresee(60, 150, 2.0)
    reports = [randomize_graph(graph, 2.0, unsafe_seed=seed) for seed in range(30)]
    assert estimate_degrees(reports[0]).standard_errors[0] == pytest.approx(outcome.degree)
    assert estimate_edges(reports[0]).standard_error == pytest.approx(outcome.edges)
    found = [estimate_triangles(one) for one in reports]
    each = np.mean([one.of_each.standard_errors**2 for one in found]) ** 0.5
    whole = np.mean([one.total.standard_error**2 for one in found]) ** 0.5
    assert each == pytest.approx(outcome.of_each, rel=0.06)
    assert whole == pytest.approx(outcome.triangles, rel=0.06)


def test_shrunken_degrees_are_nearer_and_in_the_same_order() -> None:
    """At a small ε nearer than the unbiased ones by far; at a large one the same."""
    graph = town()

    def off(values: np.ndarray) -> float:
        return float(np.mean((values - graph.degrees) ** 2))

    rough = estimate_degrees(randomize_graph(graph, 1.0, unsafe_seed=4))
    assert off(rough.shrunken) < off(rough.values) / 3
    assert rough.reliability < 0.5
    assert np.all(np.diff(rough.shrunken[np.argsort(rough.values)]) >= 0)
    fine = estimate_degrees(randomize_graph(graph, 8.0, unsafe_seed=4))
    assert fine.reliability > 0.95
    assert off(fine.shrunken) == pytest.approx(off(fine.values), rel=0.1, abs=0.01)


@pytest.mark.parametrize(
    "channel", [k_ary(1.0, 3), optimized_unary(1.0, 2), two_coin(1.0, [0.3, 0.7])]
)
def test_a_channel_that_is_none_of_edges_is_refused(channel: Channel) -> None:
    """More cells than two, more numbers than one, an uneven lie."""
    with pytest.raises(ChannelError, match="such as k_ary"):
        randomize_through(town(), channel)


def test_what_makes_no_roster_no_graph_and_no_report_is_a_sentence() -> None:
    """Each with what would have been right, and none with an answer."""
    roster = Roster(NAMES[:5])
    with pytest.raises(DataError, match="3 to 10,000"):
        Roster(("a", "b"))
    with pytest.raises(DataError, match="every name once"):
        Roster(("a", "b", "a"))
    with pytest.raises(DataError, match="1 or 2"):
        Roster(NAMES[:5], 3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="'c'"):
        roster.asked("cc")
    with pytest.raises(DataError, match="1 edges name somebody who is not on the roster"):
        graph_of(NAMES[:3], [("a", "z")])
    with pytest.raises(DataError, match="join somebody with themselves"):
        graph_of(NAMES[:3], [("a", "a")])
    with pytest.raises(AnswerError) as refused:
        randomize_contacts({"secret"}, "a", roster, edge_channel(1.0), UnsafeSeededCoin(1))
    assert "secret" not in str(refused.value)
    with pytest.raises(ReportError, match="2 numbers, each 0 or 1"):
        gather(roster, edge_channel(1.0), {"a": (0, 1, 1)})
    with pytest.raises(ReportError, match="2 numbers, each 0 or 1"):
        gather(roster, edge_channel(1.0), {"a": (0, 2)})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"deniable-graph": 2}, "no file of reports"),
        ({"rows": []}, "5 rows"),
        ({"rows": ["AA=="] * 4 + ["!"]}, "base 64"),
        ({"rows": ["AA=="] * 4 + ["AAAA"]}, "1 bytes"),
        ({"people": "abcde"}, "a list of names"),
        ({"more": 1}, "holds something else"),
    ],
)
def test_a_broken_file_of_reports_is_refused(change: dict[str, object], sentence: str) -> None:
    """Whatever was changed in it."""
    graph = graph_of(NAMES[:5], [("a", "b")])
    document = json.loads(randomize_graph(graph, 1.0).to_bytes())
    assert GraphReports.from_bytes(json.dumps(document).encode()).roster.names == NAMES[:5]
    with pytest.raises(ReportError, match=sentence):
        GraphReports.from_bytes(json.dumps(document | change).encode())
    with pytest.raises(ReportError, match="no file of reports"):
        GraphReports.from_bytes(b"one,other\n")


@pytest.mark.parametrize(
    "text",
    [
        "a,b\nb,c\n",
        "# a comment\na b 17\nb c 3\n",
        "a\tb\nb\tc\nb\ta\n",
        "% konect\na;b\nb;c",
        "\ufeffa,b\r\nb,c\r\n",
    ],
)
def test_edge_lists_are_read_as_other_programs_write_them(text: str, tmp_path: Path) -> None:
    """Commas, blanks, tabs, semicolons; comments, weights, marks of Windows."""
    path = tmp_path / "edges"
    path.write_text(text, encoding="utf-8")
    graph = read_graph(path)
    assert graph.names == ("a", "b", "c")
    assert graph.edges == 2
    names = tmp_path / "names"
    names.write_text("c\n\nb\na\nd\n")
    assert read_graph(path, read_names(names)).names == ("c", "b", "a", "d")


def test_a_file_that_is_no_edge_list_is_refused(tmp_path: Path) -> None:
    """One name on a line; nothing at all; no text."""
    path = tmp_path / "edges.csv"
    for content, sentence in ((b"a,b\nc\n", "two names"), (b"", "no edges"), (b"\xff,", "UTF-8")):
        path.write_bytes(content)
        with pytest.raises(DataError, match=sentence):
            read_graph(path)


def test_the_command_randomizes_estimates_and_foresees_in_eighty_columns(tmp_path: Path) -> None:
    """From a file of edges to degrees with intervals; CSV for everybody, JSON for programs."""
    graph = town()
    edges, output = tmp_path / "edges.csv", tmp_path / "reports.json"
    lines = [f"{graph.names[i]},{graph.names[j]}" for i, j in np.argwhere(np.triu(graph.joined))]
    edges.write_text("one,other\n" + "\n".join(lines))
    roster = tmp_path / "names.txt"
    roster.write_text("\n".join(graph.names))
    words = ["--header", "--roster", str(roster), "--epsilon", "3", "--unsafe-seed", "1"]
    done = CliRunner().invoke(
        main, ["graph", "randomize", str(edges), "-o", str(output), *words, "--ends", "2"]
    )
    assert done.exit_code == 0, done.output
    assert "UNSAFE" in done.stderr
    assert "3.000" in done.stdout
    shown = CliRunner().invoke(main, ["graph", "estimate", str(output)])
    assert shown.exit_code == 0, shown.output
    assert "reported by both ends" in shown.stdout
    assert "95% interval" in shown.stdout
    planned = CliRunner().invoke(main, ["graph", "plan", "--people", "60", "--edges", "150"])
    assert planned.exit_code == 0, planned.output
    assert max(map(len, (shown.stdout + planned.stdout).splitlines())) <= 80
    listed = CliRunner().invoke(main, ["graph", "estimate", str(output), "--format", "csv"])
    rows = listed.stdout.splitlines()
    assert len(rows) == 61
    assert rows[0].startswith("person,degree,degree_se,degree_low,degree_high")
    told = CliRunner().invoke(
        main, ["graph", "estimate", str(output), "--format", "json", "--degrees-only"]
    )
    data = json.loads(told.stdout)
    assert list(data["totals"]) == ["edges"]
    assert data["totals"]["edges"]["value"] == pytest.approx(
        estimate_edges(GraphReports.from_bytes(output.read_bytes())).value
    )


def test_the_command_says_what_a_missing_roster_tells_and_when_order_is_noise(
    tmp_path: Path,
) -> None:
    """Two honest sentences."""
    edges, output = tmp_path / "edges.csv", tmp_path / "reports.json"
    edges.write_text("\n".join(f"{a},{b}" for a, b in pairwise(NAMES)))
    done = CliRunner().invoke(
        main, ["graph", "randomize", str(edges), "-o", str(output), "--epsilon", "1"]
    )
    assert "says that they have an edge" in done.stderr
    before = output.read_bytes()
    again = CliRunner().invoke(
        main, ["graph", "randomize", str(edges), "-o", str(output), "--epsilon", "1"]
    )
    assert again.exit_code == 2
    assert "--replace" in again.output  # a second randomization of the same edges costs ε again
    assert output.read_bytes() == before
    shown = CliRunner().invoke(main, ["graph", "estimate", str(output)])
    assert "the order says little" in " ".join(shown.stdout.split())


@pytest.mark.parametrize(("first", "said"), [("one,other", True), ("Ann,Bob", False)])
def test_the_command_says_if_the_first_line_may_be_a_heading(
    tmp_path: Path, first: str, *, said: bool
) -> None:
    """Names that stand nowhere else may be those of columns; people's are not asked about."""
    edges = tmp_path / "edges.csv"
    edges.write_text(f"{first}\nAnn,Cid\nBob,Cid\n")
    words = [str(edges), "--epsilon", "3", "-o", str(tmp_path / "reports.json")]
    done = CliRunner().invoke(main, ["graph", "randomize", *words])
    assert done.exit_code == 0, done.output
    assert ("--header" in done.stderr) == said
