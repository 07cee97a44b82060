"""The inverse of attributes randomized one by one, three ways (Kikuchi III-C3, table II).

All three give the same table. *Naive* inverts the Kronecker product of the matrices,
*reduced* multiplies the inverses together, *castell* applies them axis by axis. The
estimators use the last through ``sight``; the others are here to be compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from deniable.estimation.bump import along_in_place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from deniable.estimation.lens import PointLens

    Array = NDArray[np.float64]


def naive_inverse(shares: Array, lenses: Sequence[PointLens]) -> Array:
    """Return ((P₁ ⊗ … ⊗ P_w)ᵀ)⁻¹·λ with the whole matrix laid out and solved (eq. 3)."""
    whole = _kronecker([lens.likelihood for lens in lenses])
    return np.asarray(np.linalg.solve(whole, shares.reshape(-1))).reshape(shares.shape)


def reduced_inverse(shares: Array, lenses: Sequence[PointLens]) -> Array:
    """Return (P₁⁻¹ ⊗ … ⊗ P_w⁻¹)ᵀ·λ with the product of small inverses laid out (eq. 4)."""
    whole = _kronecker([np.asarray(np.linalg.inv(lens.likelihood)) for lens in lenses])
    return np.asarray(whole @ shares.reshape(-1)).reshape(shares.shape)


def castell(shares: Array, lenses: Sequence[PointLens]) -> Array:
    """Return the inverse axis by axis (eq. 6, algorithm 3), each axis in O(cells)."""
    table = np.array(shares, dtype=np.float64, order="C")
    castell_in_place(table, lenses)
    return table


def castell_in_place(shares: Array, lenses: Sequence[PointLens]) -> None:
    """Invert a contiguous table of shares where it stands; no second table is made."""
    along_in_place(shares, [lens.invert for lens in lenses])


def _kronecker(matrices: Sequence[Array]) -> Array:
    whole: Array = np.ones((1, 1))
    for matrix in matrices:
        whole = np.asarray(np.kron(whole, matrix), dtype=np.float64)
    return whole
