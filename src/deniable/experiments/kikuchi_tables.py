"""Joint tables from attributes randomized one by one: tables V and VI of Kikuchi's Castell."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.errors import DataError
from deniable.experiments.domingo_tables import ADULT
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.kikuchi import (
    SCHEMES,
    Expected,
    Reported,
    cramers_v_of,
    largest_error,
    schemes,
    share_of,
    total_variation,
)
from deniable.experiments.population import read_population

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deniable.experiments.kikuchi import Seen
    from deniable.experiments.population import Population

    Errors = Mapping[tuple[str, int], float]

WAYS: Final = (2, 3, 4, 5, 6)
EPSILON: Final = 1.0

PUBLISHED_VI: Final = {
    "RR-Ind-Joint": (0.0004, 0.0023, 0.0129, 0.0635, 0.3384),
    "RR-Independent": (0.0588, 0.0669, 0.0395, 0.0405, 0.0215),
    "hybrid": (0.0004, 0.0023, 0.0129, 0.0405, 0.0215),
    "truncated": (0.0004, 0.0019, 0.0068, 0.0182, 0.0223),
    "RR-Joint": (0.0001, 0.0004),
}

PUBLISHED_V: Final = {
    ("sex", "income"): (0.216, 1.88e-3, 7.07e-10),
    ("sex", "race"): (0.118, 1.10e-4, 2.26e-9),
    ("education", "occupation"): (0.187, 2.15e-5, 6.28e-7),
}
"""Cramér's V, RR-Independent, RR-Ind-Joint."""

NEAR: Final = 1.5
"""Within this factor of the published figure counts as the same figure."""


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield table VI without and with randomized reports, then table V."""
    people = read_population(setting.file)
    if len(people.sizes) < max(WAYS):
        problem = f"the tables are of up to {max(WAYS)} attributes"
        raise DataError(problem, given=f"{len(people.sizes)} columns", expected="Adult's eight")
    rounded, _ = _errors(Expected(people, EPSILON), people, setting)
    yield _table_6_as_published(rounded)
    runs = [
        _errors(Reported(people, EPSILON, setting.rng(run)), people, setting)
        for run in range(setting.runs)
    ]
    errors = {key: float(np.mean([run[0][key] for run in runs])) for key in rounded}
    distances = {key: float(np.mean([run[1][key] for run in runs])) for key in rounded}
    yield _table_6_with_reports(errors, setting.runs)
    yield _distances(distances)
    yield _table_5(people, setting)


def _errors(seen: Seen, people: Population, setting: Setting) -> tuple[Errors, Errors]:
    """Return the largest error and the total variation, mean over all w-subsets."""
    largest, total = {}, {}
    for ways in WAYS:
        found = []
        for group in combinations(range(len(people.sizes)), ways):
            true = share_of(people, group)
            tables = schemes(seen, group, people.sizes, EPSILON)
            found.append(
                [
                    (largest_error(tables[name], true), total_variation(tables[name], true))
                    for name in SCHEMES
                ]
            )
        for name, (error, distance) in zip(SCHEMES, np.mean(found, axis=0), strict=True):
            largest[name, ways], total[name, ways] = float(error), float(distance)
        setting.advance(1)
    return largest, total


def _table_6_as_published(found: Errors) -> Exhibit:
    rows: list[tuple[object, ...]] = []
    for name in SCHEMES:
        if name in PUBLISHED_VI:
            published = [f"{one:.4f}" for one in PUBLISHED_VI[name]]
            rows.append((name, "paper", *published, *[""] * (len(WAYS) - len(published))))
            name_again = ""
        else:
            name_again = name
        rows.append((name_again, "expected", *(f"{found[name, ways]:.4f}" for ways in WAYS)))
    near = sum(
        1 / NEAR < found[name, ways] / published < NEAR
        for name in ("RR-Ind-Joint", "truncated")
        for ways, published in zip(WAYS, PUBLISHED_VI[name], strict=True)
    )
    return Exhibit(
        "Table VI, nobody randomized: expected report shares, rounded to 1/n, inverted",
        ("scheme", "", *(f"w = {ways}" for ways in WAYS)),
        tuple(rows),
        (
            Claim(
                f"the published figures come out (within a factor of {NEAR})",
                near == 2 * len(WAYS),
                f"{near} of {2 * len(WAYS)} do, at ε = 1 an attribute (the caption says 4)",
            ),
        ),
        (
            (
                "Largest error of a cell, mean over all sets of w attributes (AVD). As printed, "
                "algorithm 4 lets negative limits through. Nobody's report is drawn, so that "
                "nothing but rounding is left."
            ),
        ),
    )


def _table_6_with_reports(errors: Errors, runs: int) -> Exhibit:
    rows = [(name, *(f"{errors[name, ways]:.4f}" for ways in WAYS)) for name in SCHEMES]
    factor = errors["truncated", WAYS[0]] / PUBLISHED_VI["truncated"][0]
    mean = float(np.mean([errors["truncated", ways] for ways in WAYS]))
    alone = float(np.mean([errors["RR-Independent", ways] for ways in WAYS]))
    return Exhibit(
        f"Table VI with reports that people made: largest error, {runs} runs",
        ("scheme", *(f"w = {ways}" for ways in WAYS)),
        tuple(rows),
        (
            Claim(
                "truncated: .0099 on average over w",
                mean < NEAR * 0.0099,
                f"it is {mean:.4f}; at w = {WAYS[0]} {factor:.0f} times the published figure: "
                "the noise of the coins is of order 1/√n, rounding of order 1/n",
            ),
            Claim(
                "truncated is better than RR-Independent",
                mean < alone,
                f"{mean:.3f} and {alone:.3f} on average over w",
            ),
        ),
    )


def _distances(distances: Errors) -> Exhibit:
    return Exhibit(
        "The same reports: total variation, half the sum of all errors",
        ("scheme", *(f"w = {ways}" for ways in WAYS)),
        tuple((name, *(f"{distances[name, ways]:.3g}" for ways in WAYS)) for name in SCHEMES),
        remarks=(
            (
                "Above 1 a table is none of shares any more. RR-Joint here asks the w attributes "
                "as one cell, with w·ε: another survey for each table."
            ),
        ),
    )


def _table_5(people: Population, setting: Setting) -> Exhibit:
    rows, near = [], 0
    for number, (names, (v, apart, joint)) in enumerate(PUBLISHED_V.items()):
        pair = tuple(sorted(people.names.index(name) for name in names))
        true = share_of(people, pair)
        kinds: tuple[Seen, ...] = (
            Expected(people, EPSILON),
            Reported(people, EPSILON, setting.rng(setting.runs, number)),
        )
        squares = [
            {
                name: float(np.mean((tables[name] - true) ** 2))
                for name in ("RR-Independent", "RR-Ind-Joint")
            }
            for tables in (schemes(seen, pair, people.sizes, EPSILON) for seen in kinds)
        ]
        near += 1 / NEAR < squares[0]["RR-Independent"] / apart < NEAR
        title = " × ".join(names)
        rows += [
            (title, "paper", f"{v:.3f}", f"{apart:.2e}", f"{joint:.2e}"),
            (
                "",
                "expected",
                f"{cramers_v_of(people, (pair[0], pair[1])):.3f}",
                *_shown(squares[0]),
            ),
            ("", "reports", "", *_shown(squares[1])),
        ]
    return Exhibit(
        "Table V: mean squared error of a cell (the source calls it MAE)",
        ("attributes", "", "V", "RR-Independent", "RR-Ind-Joint"),
        tuple(rows),
        (
            Claim(
                "RR-Independent's figures come out as mean squared errors",
                near == len(PUBLISHED_V),
                f"{near} of {len(PUBLISHED_V)} within a factor of {NEAR}",
            ),
        ),
    )


def _shown(squares: Mapping[str, float]) -> tuple[str, str]:
    return f"{squares['RR-Independent']:.2e}", f"{squares['RR-Ind-Joint']:.2e}"


EXPERIMENT = Experiment(
    "Kikuchi, section IV", carry_out, runs=5, steps=len(WAYS), steps_a_run=len(WAYS), data=ADULT
)
