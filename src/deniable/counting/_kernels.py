"""The hot loop of counting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.compiled import compiled

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@compiled()
def add_to_histogram(values: NDArray[np.integer[Any]], counts: NDArray[np.int64]) -> None:
    """Count values that are known to be below ``counts.size``."""
    for place in range(values.size):
        counts[values[place]] += 1
