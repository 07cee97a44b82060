"""The multinomial logit: chances from linear predictors, and their first two derivatives.

With η_0 = 0 for the reference, μ_k = e^{η_k} / Σ e^{η}, ∂μ_y/∂η_k = μ_y·([y = k] − μ_k).
Two categories make it the ordinary logistic function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]


def chances(predictors: Array) -> Array:
    """Return μ, the last axis one longer than that of η; the reference comes first."""
    high = np.maximum(predictors.max(axis=-1, keepdims=True, initial=0.0), 0.0)
    odds = np.concatenate([np.exp(-high), np.exp(predictors - high)], axis=-1)
    result: Array = odds / odds.sum(axis=-1, keepdims=True)
    return result


def slopes(chance: Array) -> Array:
    """Return ∂μ_y/∂η_k with the axes (…, y, k)."""
    categories = chance.shape[-1]
    turn = np.eye(categories)[:, 1:] - chance[..., None, 1:]
    result: Array = chance[..., :, None] * turn
    return result


def pull(chance: Array, weights: Array) -> Array:
    """Return Σ_y w_y·∂μ_y/∂η_k = μ_k·(w_k − Σ_y w_y μ_y)."""
    mean = np.sum(weights * chance, axis=-1, keepdims=True)
    result: Array = (chance * (weights - mean))[..., 1:]
    return result


def bend(chance: Array, weights: Array) -> Array:
    """Return Σ_y w_y·∂²μ_y/∂η_k∂η_l.

    With a_k = w_k·μ_k − w̄·μ_k, the pull, it is [k = l]·a_k − a_k·μ_l − a_l·μ_k.
    """
    towards = pull(chance, weights)
    others = chance[..., 1:]
    crossed = towards[..., :, None] * others[..., None, :]
    own = np.eye(towards.shape[-1]) * towards[..., None, :]
    result: Array = own - crossed - np.swapaxes(crossed, -1, -2)
    return result
