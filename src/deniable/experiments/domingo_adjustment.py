"""RR-Adjustment after RR-Independent and RR-Clusters: figure 3 of Domingo-Ferrer & Soria-Comas."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from deniable.experiments.domingo import (
    LEAST_DEPENDENCES,
    TRUTHS,
    Reading,
    adjusted_error,
    relative_error,
)
from deniable.experiments.domingo_tables import ADULT
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.population import read_population, single

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from deniable.experiments.population import Groups, Population

COVERAGES: Final = tuple(step / 10 for step in range(1, 10))
BEST_CELLS: Final = {0.1: 50, 0.3: 50, 0.5: 50, 0.7: 100}
"""For each p the T_v that is best in table 1."""

METHODS: Final = ("RR-Independent", "RR-Clusters", "Ind. + Adjusting", "Clust. + Adjusting")
READINGS: Final[tuple[Reading, ...]] = ("signed", "diagonal")
SMALL: Final = (0.1, 0.2)
LARGE: Final = COVERAGES[2:]
CLOSE: Final = 0.05
"""How near errors must be to each other to be called similar."""


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield one exhibit for each p, and what the figure is said to show."""
    people = read_population(setting.file)
    cases = [(p, reading) for p, reading in product(TRUTHS, READINGS) if _differs(p, reading)]
    found = {}
    for truth, reading in cases:
        errors = _errors(people, truth, reading, setting)
        found[truth, reading] = errors
        rows = [
            (method, *(f"{error:.3f}".lstrip("0") for error in errors[method]))
            for method in METHODS
        ]
        how = "the source's signed sum" if reading == "signed" else "clusters at equal ε"
        extra = f", {how}" if truth < min(_SAME) else ""
        yield Exhibit(
            f"Figure 3, p = {truth}{extra}: median relative error by coverage",
            ("method", *(f"{coverage:.1f}" for coverage in COVERAGES)),
            tuple(rows),
            _claims(truth, errors),
        )


_SAME = (0.5, 0.7)


def _differs(truth: float, reading: Reading) -> bool:
    """Say whether a reading is worth a look: for p of ½ and more they are all the same."""
    return truth not in _SAME or reading == READINGS[0]


def _errors(
    people: Population, truth: float, reading: Reading, setting: Setting
) -> Mapping[str, list[float]]:
    alone: Groups = single(people)
    together = people.clusters(BEST_CELLS[truth], LEAST_DEPENDENCES[0])
    found = {}
    for place, groups in enumerate((alone, together)):
        place_of = (round(10 * truth), READINGS.index(reading), place)
        found[METHODS[place]] = [
            relative_error(
                people,
                groups,
                truth,
                reading=reading,
                coverage=coverage,
                runs=setting.runs,
                rng=setting.rng(*place_of, round(10 * coverage)),
            )
            for coverage in COVERAGES
        ]
        setting.advance(1)
        found[METHODS[2 + place]] = adjusted_error(
            people,
            groups,
            truth,
            reading=reading,
            coverages=COVERAGES,
            runs=setting.runs,
            rng=setting.rng(*place_of, 0),
        )
        setting.advance(1)
    return found


def _claims(truth: float, errors: Mapping[str, list[float]]) -> tuple[Claim, ...]:
    """Compare with what the text says of the figure; small coverages are .1 and .2."""
    few = {name: sum(errors[name][: len(SMALL)]) / len(SMALL) for name in METHODS}
    shown = ", ".join(f"{few[name]:.3f}" for name in METHODS)
    if truth < min(_SAME):
        best = min(few, key=few.__getitem__)
        return (
            Claim(
                "RR-Independent is best; clusters and adjustment are counter-productive",
                best == METHODS[0],
                f"at σ ≤ .2 on average {shown}",
            ),
        )
    gaps = [
        max(errors[name][COVERAGES.index(c)] for name in METHODS)
        - min(errors[name][COVERAGES.index(c)] for name in METHODS)
        for c in LARGE
    ]
    return (
        Claim(
            "all methods are alike where σ ≥ .3",
            max(gaps) < CLOSE,
            f"they differ by {max(gaps):.3f} at most",
        ),
        Claim(
            "where σ < .3, clusters are much better than RR-Independent",
            few[METHODS[1]] < 0.8 * few[METHODS[0]],
            f"on average {shown}",
        ),
        Claim(
            "adjustment brings a substantial improvement after both",
            few[METHODS[2]] < 0.8 * few[METHODS[0]] and few[METHODS[3]] < 0.8 * few[METHODS[1]],
            "in the order of the rows, as above",
        ),
    )


EXPERIMENT = Experiment(
    "Domingo-Ferrer & Soria-Comas, sections 5 and 6.5",
    carry_out,
    runs=200,
    steps=4 * (2 * len(TRUTHS) - len(_SAME)),
    data=ADULT,
)
