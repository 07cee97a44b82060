"""Hot loops as machine code, kept for the next start where anything can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from numba import njit

if TYPE_CHECKING:
    from collections.abc import Callable

Loop = TypeVar("Loop", bound="Callable[..., Any]")


def compiled(**options: Any) -> Callable[[Loop], Loop]:  # noqa: ANN401 -- as numba has them
    """Compile a function when it is first called; it then runs without Python's lock.

    The machine code is kept beside the source, in the user's cache or in ``NUMBA_CACHE_DIR``.
    Where none of these can be written (a read-only image, a user without a home) it is made
    anew at every start: slower, and that is all.

    Args:
        **options: What ``numba.njit`` takes besides.
    """

    def compile_loop(loop: Loop) -> Loop:
        try:
            made: Loop = njit(nogil=True, cache=True, **options)(loop)
        except RuntimeError:  # there is no place to keep it
            made = njit(nogil=True, **options)(loop)
        return made

    return compile_loop
