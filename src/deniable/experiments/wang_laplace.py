"""Shares, entropy and χ², k-ary against rounded Laplace: figures 1–4 of Wang, Wu & Hu."""

from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.estimation.simplex import nearest_proper
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.wang import (
    PEOPLE,
    WAYS,
    dispersion,
    mean_and_spread,
    people_of,
    randomized,
    reported,
    together,
)
from deniable.inference.measure import Setting as Shape
from deniable.inference.measures.association import chi_squared
from deniable.inference.measures.information import entropy
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from deniable.experiments.population import Population
    from deniable.experiments.wang import Randomized
    from deniable.inference.form import Form

    Array = NDArray[np.float64]

LEVELS: Final = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
FIGURE_1: Final = 5.0
ORDERS: Final = (100.0, 1000.0)
"""“two-three orders lower”, said of figure 2."""

SMALLEST: Final = 1e-3
"""Shares are lifted to this before a slope is taken there: log 0 has none."""


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield the four figures."""
    people = people_of(setting)
    yield _figure_1(people, setting)
    yield _figure_2(people, setting)
    yield _figure_3(people, setting)
    yield _figure_4(people, setting)


def _estimates(
    counts: Array, way: Randomized, runs: int, rng: np.random.Generator
) -> tuple[Array, list[Array]]:
    """Return π̂ = P⁻¹λ̂ (eq. 17) of each run, and its estimated dispersion (eq. 18)."""
    shares = [reported(counts, way.matrix, rng) for _ in range(runs)]
    people = int(counts.sum())
    return (
        np.array([way.inverse @ share for share in shares]),
        [dispersion(way.inverse, share, people) for share in shares],
    )


def _figure_1(people: Population, setting: Setting) -> Exhibit:
    counts = people.counts((0,))
    true = counts / counts.sum()
    ways = [randomized(way, FIGURE_1, counts.size) for way in WAYS]
    found = [
        _estimates(counts, way, setting.runs, setting.rng(1, place))[0]
        for place, way in enumerate(ways)
    ]
    said = [
        np.sqrt(np.diag(way.dispersion(true, int(counts.sum())))) for way in ways
    ]  # eq. 18 at the truth
    rows = [
        (
            f"{people.names[0]} {cell + 1}",
            f"{true[cell]:.3f}",
            *(mean_and_spread(one[:, cell]) for one in found),
            *(f"{one[cell]:.3f}" for one in said),
        )
        for cell in range(counts.size)
    ]
    setting.advance(1)
    return Exhibit(
        f"Figure 1: the distribution of {people.names[0]}, ε = {spell_number(FIGURE_1)}, "
        f"mean ± sd of {setting.runs} runs",
        ("", "true", "k-ary", "Laplace", "sd, eq. 18", "Laplace"),
        tuple(rows),
        (
            Claim(
                "randomized response has the smaller standard deviation for each level",
                bool(np.all(said[0] < said[1])),
            ),
        ),
        (
            (
                "± about the people at hand; eq. 18 adds that they are a sample. The source's "
                "bars are one run each; both ways are unbiased: a mean of runs is near the truth."
            ),
        ),
    )


def _figure_2(people: Population, setting: Setting) -> Exhibit:
    counts = people.counts((0,))
    true, size, count = counts / counts.sum(), counts.size, int(counts.sum())
    rows, factors = [], []
    for place, epsilon in enumerate(LEVELS):
        ways = [randomized(name, epsilon, size) for name in WAYS]
        drawn = [
            np.mean(
                (_estimates(counts, way, setting.runs, setting.rng(2, place, number))[0] - true)
                ** 2
            )
            for number, way in enumerate(ways)
        ]
        ways.append(randomized("k-ary", ways[1].epsilon, size))
        noise = [float(np.trace(way.noise(true, count))) / size for way in ways]
        whole = [float(np.trace(way.dispersion(true, count))) / size for way in ways]
        factors.append(noise[1] / noise[0])
        rows.append(
            (
                spell_number(epsilon),
                *(f"{one:.2e}" for one in (*drawn, *noise[:2])),
                *(f"{one:.3g}" for one in (factors[-1], noise[1] / noise[2], whole[1] / whole[0])),
            )
        )
        setting.advance(1)
    within = [f"{e:g}" for e, f in zip(LEVELS, factors, strict=True) if ORDERS[0] <= f <= ORDERS[1]]
    return Exhibit(
        f"Figure 2: mean squared error of a share, {setting.runs} runs and by formula",
        ("ε", "k-ary", "Laplace", "by formula", "Laplace", "times", "equal ε", "drawn"),
        tuple(rows),
        (
            Claim(
                "the error of randomized response is two to three orders lower",
                len(within) == len(LEVELS),
                f"only for ε = {', '.join(within) or 'none of these'}",
            ),
            Claim(
                "the more so the smaller ε is",
                factors == sorted(factors)[::-1],
                "so it is up to about 2, and the other way round above"
                if factors[0] > factors[2]
                else "",
            ),
        ),
        (
            (
                "times: Laplace's error over k-ary's, about the shares of the people at hand; "
                "equal ε: with k-ary at the level that rounded Laplace really has; drawn: if the "
                "people are themselves a sample (eq. 18), which both ways suffer from alike."
            ),
        ),
    )


def _figure_3(people: Population, setting: Setting) -> Exhibit:
    counts = people.counts((0,))
    form = entropy(_shape(counts))
    truth = float(form.whole.value(counts / counts.sum()))
    rows, spreads = _rows(counts, form, setting, 3)
    return _derived("Figure 3: the entropy of " + people.names[0], truth, rows, spreads)


def _figure_4(people: Population, setting: Setting) -> Exhibit:
    counts = people.counts((0, 1))
    form = chi_squared(_shape(counts))
    truth = float(form.whole.value(counts / counts.sum()))
    rows, spreads = _rows(counts, form, setting, 4)
    title = f"Figure 4: χ² of {' and '.join(people.names)}"
    return _derived(title, truth, rows, spreads, costs="2ε")


def _shape(counts: Array) -> Shape:
    return Shape(counts.shape, int(counts.sum()), math.nan)


def _rows(
    counts: Array, form: Form, setting: Setting, figure: int
) -> tuple[list[tuple[object, ...]], list[tuple[float, float]]]:
    """Return for each ε the measure by both ways, and how much each varies."""
    rows: list[tuple[object, ...]] = []
    spreads = []
    for place, epsilon in enumerate(LEVELS):
        cells: list[object] = [spell_number(epsilon)]
        both = []
        for number, name in enumerate(WAYS):
            ways = [randomized(name, epsilon, size) for size in counts.shape]
            rng = setting.rng(figure, place, number)
            values, errors = _values(counts, form, reduce(together, ways), setting.runs, rng)
            cells += [mean_and_spread(values), f"{np.median(errors):.3g}"]
            both.append(float(np.std(values)))
        rows.append(tuple(cells))
        spreads.append((both[0], both[1]))
        setting.advance(1)
    return rows, spreads


def _values(
    counts: Array, form: Form, way: Randomized, runs: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Return the measure of each run's proper shares and its error by eq. 24."""
    found, spreads = _estimates(counts.reshape(-1), way, runs, rng)
    values, errors = [], []
    for shares, spread in zip(found, spreads, strict=True):
        proper = nearest_proper(shares).reshape(counts.shape)
        values.append(float(form.whole.value(proper)))
        lifted = np.maximum(proper, SMALLEST)
        slope = form.whole.slope(lifted / lifted.sum()).reshape(-1)
        errors.append(math.sqrt(float(slope @ spread @ slope)))
    return np.array(values), np.array(errors)


def _derived(
    title: str,
    truth: float,
    rows: list[tuple[object, ...]],
    spreads: list[tuple[float, float]],
    costs: str = "",
) -> Exhibit:
    means = [[float(str(row[column]).split()[0]) for row in rows] for column in (1, 3)]
    off = [[abs(mean - truth) for mean in column] for column in means]
    nearer = [e for e, a, b in zip(LEVELS, *off, strict=True) if a <= b]
    steadier = [e for e, (a, b) in zip(LEVELS, spreads, strict=True) if a < b]
    remarks = [
        (
            "± the standard deviation over the runs; by eq. 24: the delta method's, median over "
            "runs. Shares are made proper first, as neither measure has a value for negative ones: "
            "where ε is small that decides, and neither deviation says how far off an estimate is."
        ),
    ]
    if costs:
        remarks.append(f"Two attributes are reported, each with ε: together it costs {costs}.")
    return Exhibit(
        f"{title}: {truth:.3f} in truth",
        ("ε", "k-ary", "by eq. 24", "Laplace", "by eq. 24"),
        tuple(rows),
        (
            _for_each("randomized response lies nearer to the truth", nearer),
            _for_each("and has the smaller standard deviation", steadier),
        ),
        tuple(remarks),
    )


def _for_each(sentence: str, levels: list[float]) -> Claim:
    everywhere = len(levels) == len(LEVELS)
    some = f"only for ε = {', '.join(spell_number(one) for one in levels)}"
    told = "for each ε" if everywhere else some if levels else "for no ε here"
    return Claim(sentence, everywhere, told)


EXPERIMENT = Experiment(
    "Wang, Wu & Hu, sections 6.2 and 6.3",
    carry_out,
    runs=200,
    steps=1 + 3 * len(LEVELS),
    data="a CSV file of two columns, LDL and TC, whose categories sort into their order",
    made_up=f"made up, {PEOPLE} people of LDL and TC as in the source, whose data are not public",
)
