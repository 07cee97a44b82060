"""Attribute: one question with finitely many cells, numeric answers being binned."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Integral
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from deniable.errors import AnswerError, SchemaError
from deniable.schema.bins import bin_names, bin_of, edges_fault
from deniable.schema.category import WHOLE_NUMBER, Category, checked_texts, coded, repeated
from deniable.schema.frozen import NO_TEXTS, text_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind: TypeAlias = Literal["nominal", "ordinal", "numeric"]
MissingPolicy: TypeAlias = Literal["refuse", "category"]

KINDS: Final[tuple[Kind, ...]] = ("nominal", "ordinal", "numeric")
MISSING_POLICIES: Final[tuple[MissingPolicy, ...]] = ("refuse", "category")
FEWEST_CELLS: Final = 2
MOST_CELLS: Final = 65_536

ATTRIBUTE_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}", re.ASCII)
NAME_RULE: Final = "a letter, then at most 63 letters, digits, '_' or '-'"

_TRUTHS: Final = {
    True: ("true", "True", "yes"),
    False: ("false", "False", "no"),
}


@dataclass(frozen=True, slots=True)
class Attribute:
    """What is asked, and every answer it can have.

    Attributes:
        name: Its column in files and its key in answers.
        kind: Nominal, ordinal (the categories stand in their order) or numeric.
        categories: One per cell. A missing answer, where it is a category, is the last.
        edges: For a numeric attribute, the bounds of its bins; see ``deniable.schema.bins``.
        missing: Whether no answer is refused, or is a category of its own.
        labels: The question as put to people: locale to text.
    """

    name: str
    kind: Kind
    categories: tuple[Category, ...]
    edges: tuple[float, ...] | None = None
    missing: MissingPolicy = "refuse"
    labels: Mapping[str, str] = NO_TEXTS
    _cells: dict[str | int, int] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        """Freeze what was given and refuse what cannot be asked."""
        freeze = object.__setattr__
        if not isinstance(self.name, str) or not ATTRIBUTE_NAME.fullmatch(self.name):
            raise SchemaError(
                "this cannot be the name of an attribute", given=self.name, expected=NAME_RULE
            )
        freeze(self, "labels", checked_texts(self.labels))
        freeze(self, "categories", tuple(self.categories))
        if self.edges is not None:
            freeze(self, "edges", tuple(float(edge) for edge in self.edges))
        fault = self._fault() or self._numeric_fault() or self._ambiguity()
        if fault:
            raise SchemaError(f"attribute {self.name!r} {fault}")
        by_code = {category.code: cell for cell, category in enumerate(self.categories)}
        by_name = {category.name: cell for cell, category in enumerate(self.categories)}
        freeze(self, "_cells", {**by_code, **by_name})

    @classmethod
    def nominal(
        cls, name: str, answers: Iterable[str], *, missing: MissingPolicy = "refuse"
    ) -> Attribute:
        """Make an attribute without order from the names of its answers, coded 0, 1, 2 and so on.

        >>> Attribute.nominal("sex", ["female", "male"]).size
        2
        """
        return cls(
            name, "nominal", coded(answers, with_missing=missing == "category"), None, missing
        )

    @classmethod
    def ordinal(
        cls, name: str, answers: Iterable[str], *, missing: MissingPolicy = "refuse"
    ) -> Attribute:
        """Make an attribute whose answers stand in their order, coded 0, 1, 2 and so on."""
        return cls(
            name, "ordinal", coded(answers, with_missing=missing == "category"), None, missing
        )

    @classmethod
    def numeric(
        cls, name: str, edges: Iterable[float], *, missing: MissingPolicy = "refuse"
    ) -> Attribute:
        """Make an attribute whose numbers fall into the bins between ``edges``.

        >>> Attribute.numeric("age", [18, 30, 65]).cell_names
        ('[18, 30)', '[30, 65]')
        """
        bounds = tuple(float(edge) for edge in edges)
        fault = edges_fault(bounds)
        if fault:
            raise SchemaError(f"attribute {name!r} {fault}")
        return cls(
            name,
            "numeric",
            coded(bin_names(bounds), with_missing=missing == "category"),
            bounds,
            missing,
        )

    @property
    def size(self) -> int:
        """The number of cells, that for a missing answer included."""
        return len(self.categories)

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The name of each cell."""
        return tuple(category.name for category in self.categories)

    @property
    def missing_cell(self) -> int | None:
        """The cell of a missing answer, if that is a category."""
        return self.size - 1 if self.missing == "category" else None

    @property
    def answers(self) -> tuple[Category, ...]:
        """The categories without the one for a missing answer."""
        return self.categories if self.missing == "refuse" else self.categories[:-1]

    def label(self, locale: str = "default") -> str:
        """Return the question's text for ``locale``, or the name."""
        return text_in(locale, self.labels, self.name)

    def index(self, answer: object) -> int:
        """Return the cell of an answer given by name, code, truth value or number.

        Text that is not a name is also looked up as a code, because files of
        comma-separated values hold nothing but text. ``None``, the empty text
        and NaN are a missing answer.

        Raises:
            AnswerError: The answer has no cell. It is not named.

        >>> Attribute.nominal("sex", ["female", "male"]).index("male")
        1
        """
        if is_missing(answer):
            if self.missing == "refuse":
                raise AnswerError(f"attribute {self.name!r} was not answered", expected="an answer")
            return self.size - 1
        cell = self._cells.get(answer) if isinstance(answer, str) else None
        if cell is None:
            cell = self._bin(answer) if self.edges is not None else self._category(answer)
        if cell is None:
            raise AnswerError(
                f"the answer to {self.name!r} lies outside its domain", expected=self.domain
            )
        return cell

    def _bin(self, answer: object) -> int | None:
        return None if self.edges is None else bin_of(answer, self.edges)

    def _category(self, answer: object) -> int | None:
        if isinstance(answer, bool):
            return self._first_of(_TRUTHS[answer])
        if isinstance(answer, str):
            if WHOLE_NUMBER.fullmatch(answer):
                return self._cells.get(int(answer))
            if answer in {"true", "True", "false", "False"}:
                return self._first_of(_TRUTHS[answer in {"true", "True"}])
            return self._cells.get(unicodedata.normalize("NFC", answer))
        if isinstance(answer, Integral) or (isinstance(answer, float) and answer.is_integer()):
            return self._first_of((int(answer), str(int(answer))))
        return None

    def _first_of(self, spellings: Iterable[str | int]) -> int | None:
        return next((self._cells[s] for s in spellings if s in self._cells), None)

    @property
    def domain(self) -> str:
        """Say what may be answered: what an error says would have been right.

        >>> Attribute.nominal("sex", ["female", "male"]).domain
        "one of 'female', 'male'"
        """
        shown = 8
        names = [repr(name) for name in self.cell_names[:shown]]
        more = f" … ({self.size} in all)" if self.size > shown else ""
        outset = "a number in " if self.edges is not None else "one of "
        return outset + ", ".join(names) + more

    def _fault(self) -> str | None:
        if self.kind not in KINDS:
            return f"is of unknown kind {self.kind!r}, not {', '.join(KINDS)}"
        if self.missing not in MISSING_POLICIES:
            return f"has missing={self.missing!r}, not 'refuse' or 'category'"
        if not FEWEST_CELLS <= self.size <= MOST_CELLS:
            return f"has {self.size} cells, not {FEWEST_CELLS} to {MOST_CELLS}"
        return repeated("name", self.cell_names) or repeated(
            "code", [category.code for category in self.categories]
        )

    def _numeric_fault(self) -> str | None:
        if (self.edges is not None) != (self.kind == "numeric"):
            return "has edges if and only if it is numeric, which is not so here"
        if self.edges is None:
            return None
        fault = edges_fault(self.edges)
        if fault:
            return fault
        if tuple(category.name for category in self.answers) != bin_names(self.edges):
            return "has categories that are not named after its bins"
        return None

    def _ambiguity(self) -> str | None:
        # A file may hold names or codes; 2 must not be one answer by name and another by code.
        codes = {category.code: category.name for category in self.categories}
        for category in () if self.kind == "numeric" else self.categories:
            if WHOLE_NUMBER.fullmatch(category.name):
                other = codes.get(int(category.name), category.name)
                if other != category.name:
                    return f"uses {category.name} as the name of one category and code of another"
        return None


def is_missing(answer: object) -> bool:
    """Tell whether an answer is none: ``None``, the empty text, or no number."""
    if answer is None:
        return True
    if isinstance(answer, str):
        return not answer
    if isinstance(answer, float):
        return answer != answer  # noqa: PLR0124 -- NaN alone differs from itself
    return isinstance(answer, Decimal) and answer.is_nan()
