"""One table consistent with what every view says: least absolute differences, or least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deniable.errors import EstimationError
from deniable.estimation.covariance import Dispersion
from deniable.estimation.method import Method, tabulate
from deniable.estimation.observation import Observation, observe
from deniable.estimation.simplex import clip_and_rescale, nearest_proper
from deniable.estimation.unbiased import pooled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy import sparse

    from deniable.estimation.observation import Source
    from deniable.estimation.sight import Sight
    from deniable.estimation.table import Table

    Array = NDArray[np.float64]

MOST_CELLS = 2**14
GAP = 1e-7
MOST_STEPS = 50_000
FILLED_IN = "no view asked all the attributes together: their interplay is filled in, not learned"


class Margin(NamedTuple):
    """What some views say of a marginal table.

    Attributes:
        members: Which of the table's cells each marginal cell is the sum of, as a 0/1 matrix.
        estimate: The marginal cells' unbiased estimates.
        covariance: Their covariance matrix.
    """

    members: sparse.csr_array
    estimate: Array
    covariance: Array


def estimate_least_absolute(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return the distribution of least Σ |M·π − π̂_M| over all margins M seen (Barak 2007)."""
    from scipy import sparse  # noqa: PLC0415 -- slow to load
    from scipy.optimize import linprog  # noqa: PLC0415

    del rng
    observation = observe(source, attributes)
    margins = margins_of(observation)
    seen = sparse.vstack([margin.members for margin in margins])
    wanted = np.concatenate([margin.estimate for margin in margins])
    rows, cells = seen.shape
    cost = np.concatenate([np.zeros(cells), np.ones(rows)])
    slack = sparse.eye_array(rows)
    above = sparse.hstack([seen, -slack])
    below = sparse.hstack([-seen, -slack])
    total = sparse.csr_array(np.concatenate([np.ones(cells), np.zeros(rows)])[None, :])
    solve: Any = linprog  # its stubs know no sparse matrices
    solution = solve(
        cost,
        A_ub=sparse.vstack([above, below]),
        b_ub=np.concatenate([wanted, -wanted]),
        A_eq=total,
        b_eq=[1.0],
        method="highs",
    )
    if not solution.success:
        problem = "the linear program of the views has no solution"
        raise EstimationError(problem, given=solution.message)
    table = np.maximum(solution.x[:cells], 0).reshape(observation.shape)
    return _finished(observation, table / table.sum())


def estimate_least_squares(
    source: Source, attributes: Sequence[str], *, rng: np.random.Generator
) -> Table:
    """Return the distribution of least Σ (M·π − π̂_M)ᵀ·Σ_M⁻¹·(M·π − π̂_M)."""
    del rng
    observation = observe(source, attributes)
    table = least_squares(margins_of(observation), observation.cells)
    return _finished(observation, table.reshape(observation.shape))


def least_squares(margins: Sequence[Margin], cells: int) -> Array:
    """Return the minimum over the simplex, by accelerated projected gradients.

    The steps end when no distribution can be better by more than ``GAP``: for a convex f
    that is at most ∇f·π − min ∇f.
    """
    curvature = np.zeros((cells, cells))
    pull = np.zeros(cells)
    for margin in margins:
        weight = np.linalg.pinv(margin.covariance, hermitian=True, rcond=1e-8)
        half = margin.members.T @ weight
        curvature += half @ margin.members.toarray()
        pull += half @ margin.estimate
    step = 1 / max(float(np.linalg.eigvalsh(curvature)[-1]), 1e-300)
    table = ahead = np.full(cells, 1 / cells)
    momentum = 1.0
    for _ in range(MOST_STEPS):
        slope = curvature @ table - pull
        if slope @ table - slope.min() <= GAP:
            break
        following = nearest_proper(ahead - step * (curvature @ ahead - pull))
        later = (1 + (1 + 4 * momentum**2) ** 0.5) / 2
        turned_back = (ahead - following) @ (following - table) > 0
        momentum, gain = (1.0, 0.0) if turned_back else (later, (momentum - 1) / later)
        ahead = following + gain * (following - table)
        table = following
    return table


def margins_of(observation: Observation) -> list[Margin]:
    """Return what the views say, one margin for each set of attributes they ask together."""
    from scipy import sparse  # noqa: PLC0415 -- slow to load

    if observation.cells > MOST_CELLS:
        problem = "so large a table is not fitted to its margins at once"
        raise EstimationError(problem, given=observation.cells, expected=f"up to {MOST_CELLS}")
    by_axes: dict[tuple[int, ...], list[Sight]] = {}
    for sight in observation.sights:
        axes = tuple(sorted(sight.order))
        by_axes.setdefault(axes, []).append(sight.among(axes))
    unseen = set(range(len(observation.shape))) - {axis for axes in by_axes for axis in axes}
    if unseen:
        names = ", ".join(observation.names[axis] for axis in sorted(unseen))
        problem = f"no report tells anything about {names}"
        raise EstimationError(problem, expected="a view that asks it")
    margins = []
    places = np.indices(observation.shape).reshape(len(observation.shape), -1)
    for axes, sights in by_axes.items():
        dispersion = pooled(sights)
        sizes = [observation.shape[axis] for axis in axes]
        belongs = np.ravel_multi_index(tuple(places[axis] for axis in axes), sizes)
        ones = np.ones(observation.cells)
        members = sparse.csr_array((ones, (belongs, np.arange(observation.cells))))
        margins.append(Margin(members, dispersion.centre.reshape(-1), _steadied(dispersion)))
    return margins


def _steadied(dispersion: Dispersion) -> Array:
    """Return the covariance as it would be with half a person more in each cell.

    Where nobody reported a cell its variance would be found to be 0, and its weight infinite.
    """
    people = sum(sight.people for _, sight in dispersion.parts)
    share = clip_and_rescale(dispersion.centre)
    added = share.size / 2
    even = (people * share + added / share.size) / (people + added)
    return Dispersion(even, dispersion.parts).dense()


def _finished(observation: Observation, table: Array) -> Table:
    covering = observation.covering
    if covering:
        return tabulate(observation, table, pooled(covering))
    return tabulate(observation, table, notes=(FILLED_IN,))


LEAST_ABSOLUTE = Method(
    "consistency-l1",
    "Imran 4.3 after Barak et al. 2007",
    "the distribution nearest to all views' tables by absolute differences",
    estimate_least_absolute,
    loses=("it is not unique, and views of few people count as much as those of many",),
)

LEAST_SQUARES = Method(
    "consistency-l2",
    "Imran 4.3, weighted by inverse covariances instead of equality constraints",
    "the distribution nearest to all views' tables by weighted squares",
    estimate_least_squares,
)
