"""The truth. It exists on the device only, so it cannot be written, sent, copied or shown."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, NoReturn, ParamSpec, TypeVar

from deniable.errors import AnswerError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from deniable.schema import Schema

Given = ParamSpec("Given")
Found = TypeVar("Found")


def untraced(function: Callable[Given, Found]) -> Callable[Given, Found]:
    """Let errors out of a function without the frames they came through.

    A trace may show what its frames hold (crash reporters do), and these hold the truth.
    """

    @wraps(function)
    def guarded(*args: Given.args, **kwargs: Given.kwargs) -> Found:
        try:
            return function(*args, **kwargs)
        except BaseException as error:  # noqa: BLE001 -- whatever it is, it goes on below
            fault = _bare(error)
        del args, kwargs
        raise fault

    return guarded


def _bare(error: BaseException) -> BaseException:
    """Return an error whose own frames, and those of all errors before it, are forgotten."""
    links, forgotten = [error], set[int]()
    while links:
        link = links.pop()
        link.__traceback__ = None
        forgotten.add(id(link))
        before = link.__cause__, link.__context__
        links += [one for one in before if one is not None and id(one) not in forgotten]
    return error


class Answer:
    """One respondent's true answers. It has no serialization and no readable form."""

    __slots__ = ("__cells",)

    @untraced
    def __init__(self, cells: Sequence[int], sizes: Sequence[int]) -> None:
        """Hold one cell for each attribute, checked against the attributes' sizes."""
        if len(cells) != len(sizes):
            problem = "an answer must hold one cell for each attribute"
            raise AnswerError(problem, given=f"{len(cells)} cells", expected=f"{len(sizes)}")
        for place, (cell, size) in enumerate(zip(cells, sizes, strict=True)):
            if isinstance(cell, bool) or not isinstance(cell, int) or not 0 <= cell < size:
                problem = f"the answer to attribute {place} lies outside its domain"
                raise AnswerError(problem, expected=f"a cell from 0 to {size - 1}")
        self.__cells = tuple(cells)

    @classmethod
    @untraced
    def of(cls, schema: Schema, given: Mapping[str, object]) -> Answer:
        """Encode named answers under a schema, such as ``{"sex": "female"}``."""
        return cls(schema.encode(given), schema.sizes)

    def __repr__(self) -> str:
        """Say that there is an answer, and nothing about it."""
        return "Answer(…)"

    def __reduce__(self) -> NoReturn:
        """Refuse to be pickled or copied."""
        problem = "an answer never leaves the device"
        raise AnswerError(problem, expected="a randomized report instead")

    def _cells_for_the_coin(self) -> tuple[int, ...]:
        """Return the cells, to be randomized and nothing else."""
        return self.__cells
