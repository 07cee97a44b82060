"""Degrees and triangles from edges randomized one by one: figures 5 and 6 of Wang, Wu & Hu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.channels import k_ary, rounded_laplace
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.wang_network import (
    DELTA,
    EDGES,
    PEOPLE,
    global_scale,
    instance,
    made_up,
    off,
    random_graph,
    smooth_scale,
)
from deniable.graphs import (
    Graph,
    estimate_degrees,
    estimate_triangles,
    randomize_graph,
    read_graph,
)
from deniable.graphs.randomize import randomize_through
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deniable.graphs.reports import GraphReports

    Errors = Mapping[str, tuple[float, ...]]

LEVELS: Final = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0)
FAIR: Final = "RR, one end"
INFORMED: Final = 0.9
"""Better than nothing: the error is below this share of the uninformed graph's."""


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield the network, then both figures."""
    truth = made_up(setting.rng(0)) if setting.data is None else read_graph(setting.data)
    yield _network(truth, setting)
    found = [_measured(truth, epsilon, place, setting) for place, epsilon in enumerate(LEVELS)]
    degrees, triangles = (
        {name: tuple(one[figure][name] for one in found) for name in found[0][figure]}
        for figure in (0, 1)
    )
    yield _figure_5(degrees, setting)
    yield _figure_6(triangles, setting)


def _network(truth: Graph, setting: Setting) -> Exhibit:
    drawn = random_graph(truth, setting.rng(1))
    rows = [
        (
            name,
            len(one.names),
            one.edges,
            f"{one.degrees.mean():.2f} ± {one.degrees.std():.2f}",
            int(one.degrees.max()),
            int(one.triangles.sum()) // 3,
        )
        for name, one in (("truth", truth), ("a random graph", drawn))
    ]
    return Exhibit(
        "The network, and a random graph of as many edges",
        ("", "people", "edges", "degree ± sd", "largest", "triangles"),
        tuple(rows),
        remarks=(
            ()
            if setting.data is not None
            else (
                (
                    "Made up: the source's network of 185 people and 684 edges is not public, and "
                    "how many triangles it has is not said."
                ),
            )
        ),
    )


def _measured(
    truth: Graph, epsilon: float, place: int, setting: Setting
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the average entrywise error of degrees and of triangles, by each way."""
    rng = setting.rng(2, place)
    runs = []
    for _ in range(setting.runs):
        seeds = [int(seed) for seed in rng.integers(0, 2**31, 4)]
        kept, noisy = k_ary(epsilon, 2), rounded_laplace(epsilon, 2)
        single = randomize_graph(truth, epsilon, unsafe_seed=seeds[0])
        ways = {
            "RR": randomize_through(truth, kept, ends=2, unsafe_seed=seeds[1]),
            "LM": randomize_through(truth, noisy, ends=2, unsafe_seed=seeds[2]),
            FAIR: single,
        }
        graphs = {name: instance(one, truth.edges, rng) for name, one in ways.items()}
        graphs["uninformed"] = random_graph(truth, rng)
        runs.append((_of_graphs(truth, graphs), _of_estimates(truth, single)))
        setting.advance(1)
    by_graph, by_estimate = (
        {name: np.mean([run[part][name] for run in runs], axis=0) for name in runs[0][part]}
        for part in (0, 1)
    )
    people = len(truth.names)
    scale, scale_of_triangles = global_scale(people)
    means = [off(np.full(people, true.mean()), true) for true in (truth.degrees, truth.triangles)]
    trusted = {
        "LM-global": (scale / epsilon, scale_of_triangles / epsilon),
        "LM-smooth": (np.nan, smooth_scale(truth, epsilon, people)),
        "LM-smooth, one": (np.nan, smooth_scale(truth, epsilon, 1)),
    }
    everything = {**by_graph, "mean of all": means, **by_estimate, **trusted}
    degrees = {name: float(both[0]) for name, both in everything.items() if both[0] == both[0]}
    return degrees, {name: float(both[1]) for name, both in everything.items()}


def _of_graphs(truth: Graph, graphs: Mapping[str, Graph]) -> dict[str, tuple[float, float]]:
    degrees, triangles = truth.degrees, truth.triangles
    return {
        name: (off(one.degrees, degrees), off(one.triangles, triangles))
        for name, one in graphs.items()
    }


def _of_estimates(truth: Graph, reports: GraphReports) -> dict[str, tuple[float, float]]:
    found = estimate_degrees(reports), estimate_triangles(reports).of_each
    degrees, triangles = truth.degrees, truth.triangles
    return {
        "unbiased": (off(found[0].values, degrees), off(found[1].values, triangles)),
        "shrunken": (off(found[0].shrunken, degrees), off(found[1].shrunken, triangles)),
    }


LABELS: Final = {
    "RR": "RR (costs 2ε)",
    "LM": "LM (costs 2ε)",
    FAIR: "RR, one end",
    "uninformed": "uninformed graph",
    "mean of all": "mean of everybody",
    "unbiased": "unbiased (ours)",
    "shrunken": "shrunken (ours)",
    "LM-global": "LM-global, trusted",
    "LM-smooth": "LM-smooth, trusted",
    "LM-smooth, one": "the same, β of one",
}


def _rows(errors: Errors) -> tuple[tuple[object, ...], ...]:
    return tuple(
        (LABELS[name], *(f"{one:,.3g}" if one < 1000 else f"{one:,.0f}" for one in errors[name]))  # noqa: PLR2004 -- digits
        for name in LABELS
        if name in errors
    )


def _claims(errors: Errors, trusted: tuple[str, ...], below: bool) -> tuple[Claim, ...]:  # noqa: FBT001 -- which figure
    better = [e for e, a, b in zip(LEVELS, errors["RR"], errors["LM"], strict=True) if a < b]
    informed = _informed(errors, "RR")
    beaten = [
        e
        for place, e in enumerate(LEVELS)
        if all(
            (errors[way][place] < errors[name][place]) == below
            for way in ("RR", "LM")
            for name in trusted
        )
    ]
    said = "less than LM-global and LM-smooth" if below else "more than LM-global"
    return (
        Claim("randomized response errs less than Laplace", *_everywhere(better)),
        Claim(f"both err {said}", *_everywhere(beaten)),
        Claim(
            "the reports are what makes the published graphs good",
            len(informed) == len(LEVELS),
            f"better than a random graph by a tenth {_for(informed)}; with one end's report, "
            f"which costs the ε that is named, {_for(_informed(errors, FAIR))}",
        ),
    )


def _informed(errors: Errors, way: str) -> list[float]:
    pairs = zip(LEVELS, errors[way], errors["uninformed"], strict=True)
    return [e for e, a, b in pairs if a < INFORMED * b]


def _everywhere(levels: list[float]) -> tuple[bool, str]:
    return len(levels) == len(LEVELS), "" if len(levels) == len(LEVELS) else _for(levels)


def _for(levels: list[float]) -> str:
    return (
        f"only for ε = {', '.join(spell_number(one) for one in levels)}"
        if levels
        else "for no ε here"
    )


def _figure_5(errors: Errors, setting: Setting) -> Exhibit:
    return Exhibit(
        f"Figure 5: average entrywise error of the degree sequence, {setting.runs} runs",
        ("ε =", *(spell_number(one) for one in LEVELS)),
        _rows(errors),
        _claims(errors, ("LM-global",), below=False),
        (
            (
                "RR and LM as published: both ends report an edge, and the graph drawn has the "
                "true number of edges, which nobody randomized. Ours: one end, no such number; "
                "shrunken: drawn toward the mean. Trusted: the server has the truth."
            ),
        ),
    )


def _figure_6(errors: Errors, setting: Setting) -> Exhibit:
    return Exhibit(
        f"Figure 6: average entrywise error of the triangle sequence, {setting.runs} runs",
        ("ε =", *(spell_number(one) for one in LEVELS)),
        _rows(errors),
        _claims(errors, ("LM-global", "LM-smooth"), below=True),
        (
            (
                f"LM-smooth: δ = {DELTA:g}, of which the source says nothing; β as it must be for "
                "as many entries as there are people, and as it would be for one entry alone, "
                "which protects less than it says."
            ),
        ),
    )


EXPERIMENT = Experiment(
    "Wang, Wu & Hu, section 6.4",
    carry_out,
    runs=20,
    steps_a_run=len(LEVELS),
    data="a file of edges, two names a line",
    made_up=f"made up, a network of {PEOPLE} people and {EDGES} edges",
)
