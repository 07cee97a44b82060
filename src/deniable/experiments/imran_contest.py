"""The classic estimate of RRBA against pooled likelihood, on the same reports."""

from __future__ import annotations

import math
from statistics import geometric_mean
from typing import TYPE_CHECKING, Final

from deniable.bulk.keystream import unsafe_seeded
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.imran import Contest, contest
from deniable.experiments.network import made_up_network, read_network

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES: Final = (3, 2, 2, 2, 2, 3)
"""The attributes' sizes in the survey network (of Scutari & Denis)."""

PEOPLE_PER_VIEW: Final = 8_000
BLOCK: Final = 250
TRUTHS: Final = (0.4, 0.5)
LEAST_GAIN: Final = 40.0
PUBLISHED_DIVERGENCE: Final = {0.4: 0.0104, 0.5: 0.0107}
"""Tables 4 and 5 of the preprint: RRBA, survey network, 2-way tables."""

INFINITE: Final = 20.0
"""No fake weight is below 2⁻³²; an ε above this stands for a cell that is never faked."""


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield the contest at the two p of the paper's tables 4 and 5."""
    if setting.data is None:
        network = made_up_network(SIZES, rng=setting.rng(0))
    else:
        network = read_network(setting.data)
    views = len(network.sizes) - 1 + len(network.sizes) % 2
    rows, ratios = [], []
    for truth in TRUTHS:
        held = []
        for run in range(setting.runs):
            answers = network.sample(PEOPLE_PER_VIEW * views, setting.rng(1, run))
            stream = unsafe_seeded(setting.seed, run)
            held.append(contest(network.names, answers, network.sizes, truth=truth, stream=stream))
            setting.advance(1)
        ratios.append(_ratio(held))
        rows.append(_row(truth, held))
    yield Exhibit(
        f"{views} views of {PEOPLE_PER_VIEW:,} people each, B = {BLOCK} a view, p equal for both",
        (
            "p",
            "MSE classic",
            "MSE pooled",
            "ratio",
            "worst run",
            "JS classic",
            "JS pooled",
            "paper",
        ),
        tuple(rows),
        (
            Claim(
                f"pooled likelihood errs {LEAST_GAIN:.0f} times less than the last two blocks",
                min(ratios) >= LEAST_GAIN,
                f"mean ratio {' and '.join(f'{ratio:.0f}' for ratio in ratios)}",
            ),
        ),
        (
            "Classic and pooled: the mean squared error of a cell, over all pairs of attributes.",
            (
                "JS: Jensen–Shannon divergence in nats. The paper does not say in which unit its "
                "is, nor whether its 8,000 people answer each view or all of them."
            ),
        ),
    )
    yield _costs(held)


def _ratio(held: list[Contest]) -> float:
    return sum(one.classic.squared for one in held) / sum(one.pooled.squared for one in held)


def _row(truth: float, held: list[Contest]) -> tuple[object, ...]:
    count = len(held)
    return (
        f"{truth:.1f}",
        f"{sum(one.classic.squared for one in held) / count:.2e}",
        f"{sum(one.pooled.squared for one in held) / count:.2e}",
        f"{_ratio(held):.0f}",
        f"{min(one.ratio for one in held):.0f}",
        f"{sum(one.classic.divergence for one in held) / count:.4f}",
        f"{sum(one.pooled.divergence for one in held) / count:.4f}",
        f"{PUBLISHED_DIVERGENCE[truth]:.4f}",
    )


def _costs(held: list[Contest]) -> Exhibit:
    """Return what the literal protocol of these runs costs a respondent."""
    worst = [one.spent for one in held]
    endless = sum(spent > INFINITE for spent in worst)
    truth = TRUTHS[-1]
    rows = (
        ("printed in the paper: ln(1/(1 − p))", f"{-math.log1p(-truth):.3f}"),
        ("first block, T even, a view of several groups", f"{held[0].promised:.3f}"),
        ("worst block", "∞" if endless else f"{max(worst):.3f}"),
    )
    return Exhibit(
        f"What it costs to the letter, p = {truth}, without a floor: ε of one answer",
        ("", "ε"),
        rows,
        (
            Claim(
                "ε does not depend on the number of cells",
                not endless and geometric_mean(worst) < held[0].promised,
                f"in {endless} of {len(held)} runs a cell was no longer faked: reporting it "
                "proves the answer. Devices refuse such blocks",
            ),
        ),
    )


EXPERIMENT = Experiment(
    "Imran & Meo, sections 4.1, 5 and 7.4",
    carry_out,
    runs=20,
    steps_a_run=len(TRUTHS),
    data="the survey network as a BIF file (bnlearn's repository)",
    made_up="a made-up network with the sizes of the survey network",
)
