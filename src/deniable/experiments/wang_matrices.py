"""Optimal matrices, k-ary and rounded Laplace: results 1–4, theorems 2–4 of Wang, Wu & Hu."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from deniable.channels import format_epsilon
from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting
from deniable.experiments.wang import Randomized, randomized
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    Array = NDArray[np.float64]

SIZES: Final = (2, 3, 6, 16)
LEVELS: Final = (0.25, 1.0, 2.0, 5.0)
PEOPLE: Final = 1_000


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield the matrices, then what they tell of one person and of all."""
    yield _matrices()
    yield _usefulness(setting)


def _settings() -> Iterator[tuple[int, float, Randomized, Randomized]]:
    for size in SIZES:
        for epsilon in LEVELS:
            yield (
                size,
                epsilon,
                randomized("k-ary", epsilon, size),
                randomized("Laplace", epsilon, size),
            )


def _matrices() -> Exhibit:
    rows, smaller, unspent = [], True, 0.0
    for size, epsilon, kept, noisy in _settings():
        # Result 3: t·e^ε/(t − 1 + e^ε) is the most that any matrix of this level has.
        most = size * np.exp(epsilon) / (size - 1 + np.exp(epsilon))
        again = randomized("k-ary", noisy.epsilon, size)
        smaller &= noisy.diagonal < kept.diagonal
        unspent = max(unspent, 1 - noisy.epsilon / epsilon)
        rows.append(
            (
                size,
                spell_number(epsilon),
                *(f"{one:.4f}" for one in (most, kept.diagonal, noisy.diagonal)),
                format_epsilon(noisy.epsilon),
                f"{again.diagonal:.4f}",
            )
        )
    return Exhibit(
        "Results 1–4: the sum of the diagonal",
        ("t", "ε", "most", "k-ary", "Laplace", "its true ε", "k-ary there"),
        tuple(rows),
        (
            Claim("the diagonal of rounded Laplace is smaller than that of k-ary", smaller),
            Claim(
                "rounded Laplace is as private as it says",
                unspent >= 0,
                f"more so: rounding leaves up to {unspent:.0%} of its ε unspent; for t = 2 it is "
                "k-ary at the smaller ε, and nothing else",
            ),
        ),
        ("most: what no matrix of this level exceeds, t·e^ε/(t − 1 + e^ε).",),
    )


def _usefulness(setting: Setting) -> Exhibit:
    """Compare at shares drawn anew in each run: who guesses better, whose shares are nearer."""
    rng = setting.rng(0)
    rows, two, worst, nearer, means = [], True, (1.0, ""), True, 0
    for size, epsilon, kept, noisy in _settings():
        found = []
        for _ in range(setting.runs):
            shares = rng.dirichlet(np.ones(size))
            found.append([*_errors(kept, shares), *_errors(noisy, shares)])
        table = np.array(found)
        guess, share, mean = np.mean(table[:, 3:] / table[:, :3], axis=0)
        two &= size > 2 or bool(np.all(table[:, 0] <= table[:, 3]))  # noqa: PLR2004 -- binary
        nearer &= bool(np.all(table[:, 1] <= table[:, 4]))
        means += bool(mean < 1)
        errors = [way.guessing_error(_ends(size)) for way in (kept, noisy)]
        ends = errors[1] / errors[0]
        if ends < worst[0]:
            told = f"k-ary errs in {errors[0]:.3f}, Laplace in {errors[1]:.3f} of the guesses"
            where = f"t = {size}, ε = {spell_number(epsilon)}"
            worst = (ends, f"with half of the people at each end, {where}, {told}")
        rows.append(
            (
                size,
                spell_number(epsilon),
                f"{guess:.3f}",
                f"{ends:.3f}",
                f"{share:,.3g}",
                f"{mean:.3g}",
            ),
        )
        setting.advance(1)
    return Exhibit(
        f"Theorems 2–4: errors of Laplace over those of k-ary, {setting.runs} random distributions",
        ("t", "ε", "one answer", "the same, at the ends", "shares (MSE)", "mean (MSE)"),
        tuple(rows),
        (
            Claim("theorem 2, t = 2: guessing one person's answer, k-ary errs less", two),
            Claim("theorem 4: and for any t", worst[0] >= 1, worst[1]),
            Claim("theorem 3 and what 4.3 expects: k-ary's shares are nearer", nearer),
            Claim(
                "randomized response outperforms Laplace, whatever is asked",
                means == 0,
                f"in {means} of {len(rows)} rows Laplace is better for the mean of an ordered "
                "attribute: it moves answers to their neighbours. The source does not look there",
            ),
        ),
        (
            (
                "one answer: a person's, guessed from the report; at the ends: half of the people "
                "in the first category, half in the last; mean: of the places 1 … t."
            ),
        ),
    )


def _ends(size: int) -> Array:
    shares = np.zeros(size)
    shares[[0, -1]] = 0.5
    return shares


def _errors(one: Randomized, shares: Array) -> tuple[float, float, float]:
    """Return the errors of one person's guessed answer, of a share, and of the mean."""
    spread = one.dispersion(shares, PEOPLE)
    places = np.arange(shares.size, dtype=np.float64)
    mean = float(places @ spread @ places)
    return one.guessing_error(shares), float(np.trace(spread)) / shares.size, mean


EXPERIMENT = Experiment(
    "Wang, Wu & Hu, sections 3 and 4",
    carry_out,
    runs=200,
    steps=len(SIZES) * len(LEVELS),
)
