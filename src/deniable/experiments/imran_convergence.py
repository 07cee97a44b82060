"""When the rule of RRBA's block version stops: figures 5 and 6 of Imran & Meo."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Final

from deniable.experiments.experiment import Claim, Exhibit, Experiment, Setting, inversions
from deniable.experiments.imran import SHARES, SIZES, TRUTHS, Convergence, converge, settles
from deniable.planning.convergence import firing_probability

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Grid = Mapping[tuple[float, float, int], Convergence]

FIGURE_5_TRUTH: Final = 0.5
FIGURE_6_SHARES: Final = (0.072, 0.116, 0.356, 0.446)


def carry_out(setting: Setting) -> Iterator[Exhibit]:
    """Yield figure 5, figure 6, and what the rule does in truth."""
    found = {
        (truth, share, size): _converge(setting, truth, share, size)
        for truth in (*TRUTHS, FIGURE_5_TRUTH)
        for share in (SHARES if truth == FIGURE_5_TRUTH else FIGURE_6_SHARES)
        for size in SIZES
    }
    yield _figure_5(found)
    yield _figure_6(found)
    yield _other_reading(setting)
    yield _chance(found)


def _converge(setting: Setting, truth: float, share: float, size: int) -> Convergence:
    place = (*map(round, (1000 * truth, 1000 * share)), size)
    found = converge(share, size, truth, rng=setting.rng(*place), trials=setting.runs)
    setting.advance(1)
    return found


def _figure_5(found: Grid) -> Exhibit:
    tuples = {
        (share, size): found[FIGURE_5_TRUTH, share, size].tuples
        for share, size in product(SHARES, SIZES)
    }
    rows = [
        (f"{share:.3f}", *(f"{tuples[share, size]:,.0f}" for size in SIZES)) for share in SHARES
    ]
    kept = [inversions(SIZES, [tuples[share, size] for size in SIZES]) for share in SHARES]
    right, pairs = sum(one for one, _ in kept), sum(all_ for _, all_ in kept)
    lasting = max(one.stayed for (truth, *_), one in found.items() if truth == FIGURE_5_TRUTH)
    return Exhibit(
        f"Figure 5: reports until the rule first fires, p = {FIGURE_5_TRUTH} (not stated there)",
        ("share", *(f"B = {size}" for size in SIZES)),
        tuple(rows),
        (
            Claim(
                "a smaller block converges earlier, at low and at high shares",
                right == pairs,
                f"{right} of {pairs} pairs of block sizes",
            ),
            Claim(
                "the rule, once it has fired, remains valid throughout the blocks",
                lasting > 0,
                f"it does in {lasting:.0%} of the trials, at most: it fires by chance, see below",
            ),
        ),
    )


def _figure_6(found: Grid) -> Exhibit:
    rows = []
    for truth, share in product(TRUTHS, FIGURE_6_SHARES):
        cells = [found[truth, share, size] for size in SIZES]
        rows.append((f"{truth:.3f}", f"{share:.3f}", *(_fired(cell) for cell in cells)))
    low = [found[p, v, s].fired for p, v, s in product(TRUTHS[:3], FIGURE_6_SHARES, SIZES)]
    small = [found[TRUTHS[4], v, s].fired for v, s in product(FIGURE_6_SHARES, SIZES[:2])]
    large = [found[TRUTHS[4], v, s].fired for v, s in product(FIGURE_6_SHARES, SIZES[2:])]
    by_chance = "with small p, too, it fires sooner or later, by chance"
    return Exhibit(
        "Figure 6: how often the rule fires within 200 blocks, and after how many reports",
        ("p", "share", *(f"B = {size}" for size in SIZES)),
        tuple(rows),
        (
            Claim("nothing converges at p = .009, .048, .095", max(low) == 0, by_chance),
            Claim(
                "at p = .221 everything converges with B = 150 and 250",
                min(large) == 1,
                f"it fires in {min(large):.0%} of the trials or more",
            ),
            Claim(
                "at p = .221 nothing converges with B = 18 and 50",
                max(small) == 0,
                f"it fires in {min(small):.0%} of the trials or more: the chance does not depend "
                "on the block size",
            ),
        ),
        (
            (
                'The source asks besides that the rule "remains valid throughout the blocks". That '
                f"came in {_most_lasting(found):.1%} of the trials, at most."
            ),
        ),
    )


def _other_reading(setting: Setting) -> Exhibit:
    """Return figure 6 with eq. 4 read as version 1 has it."""
    rows, found = [], {}
    for truth in (*TRUTHS, FIGURE_5_TRUTH):
        for size in SIZES:
            rng = setting.rng(round(1000 * truth), size)
            each = [settles(v, size, truth, rng=rng, trials=setting.runs) for v in FIGURE_6_SHARES]
            found[truth, size] = sum(each) / len(each)
        rows.append((f"{truth:.3f}", *(f"{found[truth, size]:.0%}" for size in SIZES)))
        setting.advance(1)
    low = max(found[truth, size] for truth, size in product(TRUTHS[:3], SIZES))
    high = min(found[TRUTHS[4], size] for size in SIZES[2:])
    why = "a T that is off by x makes the next one off by −x·(1 − p)/p, and that grows for p < ½"
    return Exhibit(
        "The other reading: o counts all reports so far, as in version 1; it holds to the end",
        ("p", *(f"B = {size}" for size in SIZES)),
        tuple(rows),
        (
            Claim("nothing converges at p = .009, .048, .095", low == 0, why),
            Claim("at p = .221 everything converges with B = 150 and 250", high > 0, why),
        ),
    )


def _fired(cell: Convergence) -> str:
    return f"{cell.fired:.0%} {cell.tuples:,.0f}" if cell.fired else "never"


def _most_lasting(found: Grid) -> float:
    return max(cell.stayed for cell in found.values())


def _chance(found: Grid) -> Exhibit:
    rows = []
    for truth in (*TRUTHS, FIGURE_5_TRUTH):
        cells = [cell for (p, _, size), cell in found.items() if (p, size) == (truth, SIZES[-1])]
        rows.append(
            (
                f"{truth:.3f}",
                f"{firing_probability(truth):.3f}",
                f"{sum(cell.calm for cell in cells) / len(cells):.3f}",
                f"{sum(cell.error for cell in cells) / len(cells):.3f}",
            )
        )
    return Exhibit(
        f"Why: the rule fires by chance in each block, here of {SIZES[-1]} reports",
        ("p", "2Φ(√2·z·p) − 1", "measured", "rms error of what it returns"),
        tuple(rows),
        remarks=(
            (
                "The difference of two blocks has the noise of both; the width that it is compared "
                "with is that of a share without coins. Their ratio is p, whatever the block size, "
                "while the fake share is near the true one (at p = .009 it runs to 0 and 1)."
            ),
            (
                "The rule tells nothing about the error: stop at the width of the interval of all "
                "blocks instead."
            ),
        ),
    )


_STEPS = (
    len(TRUTHS) * len(FIGURE_6_SHARES) * len(SIZES) + len(SHARES) * len(SIZES) + len(TRUTHS) + 1
)

EXPERIMENT = Experiment("Imran & Meo, sections 5, 7.1 and 7.2", carry_out, runs=40, steps=_STEPS)
