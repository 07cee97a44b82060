"""Kind: what shares are made of, so that no sum is taken for another.

A share is noise and says nothing of itself. Whoever adds it up must know of which survey's
tables it is a part, and at what level their cells were randomized before: only then does the
sum have a meaning, and only then can anybody say what it cost. Every share therefore comes
with its kind. It is the device's word; nobody can see in a share whether it is true.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from deniable.channels.exact import asked_epsilon
from deniable.errors import EpsilonError, SharingError
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from deniable.sharing.sheet import Sheet

EXACT: Final = "exact"
PARTS: Final = 3
LONGEST_KIND: Final = 200


@dataclass(frozen=True, slots=True)
class Kind:
    """What shares are made of.

    Attributes:
        survey: The name of the survey; empty if there is none.
        tables: The digest of the sheet: which tables, of what attributes.
        epsilon: The level at which each table's cell was randomized; None if it was not.
    """

    survey: str
    tables: str
    epsilon: float | None = None

    def __post_init__(self) -> None:
        """Refuse a level that is none."""
        if self.epsilon is not None:
            object.__setattr__(self, "epsilon", checked_level("the level of a pair", self.epsilon))

    @property
    def text(self) -> str:
        """Return it as it travels: ``students/RBNv…/exact`` or ``students/RBNv…/2``."""
        level = EXACT if self.epsilon is None else spell_number(self.epsilon)
        return f"{self.survey}/{self.tables}/{level}"

    @property
    def level(self) -> str:
        """Return for a person how the shares came to be."""
        if self.epsilon is None:
            return EXACT
        return f"pairs randomized at ε {spell_number(self.epsilon)}"


def kind_of(sheet: Sheet, epsilon: float | None = None) -> Kind:
    """Return the kind of shares of a sheet, exact ones or randomized at a level."""
    return Kind(sheet.survey, sheet.digest, epsilon)


def kind_from(text: str) -> Kind:
    """Read a kind as it travels."""
    parts = text.split("/")
    if len(text) <= LONGEST_KIND and len(parts) == PARTS and parts[1]:
        survey, tables, level = parts
        try:
            return Kind(survey, tables, None if level == EXACT else float(level))
        except (ValueError, EpsilonError):
            pass
    problem = "this is no kind of shares"
    raise SharingError(problem, given=text[:LONGEST_KIND], expected="SURVEY/DIGEST/exact or an ε")


def check_kind(found: Kind, wanted: Kind) -> None:
    """Refuse shares of one kind where another is wanted."""
    check_tables(found, wanted)
    if found.epsilon != wanted.epsilon:
        problem = "the shares were made at another level"
        raise SharingError(problem, given=found.level, expected=wanted.level)


def check_tables(found: Kind, wanted: Kind) -> None:
    """Refuse shares that count other tables, at whatever level they do."""
    if found.survey != wanted.survey:
        problem = "the shares count the tables of another survey"
        expected = f"those of {wanted.survey!r}" if wanted.survey else "those of no survey"
        raise SharingError(problem, given=found.survey, expected=expected)
    if found.tables != wanted.tables:
        problem = f"the shares count the tables of {found.survey!r} with other questions"
        raise SharingError(problem, given=found.tables, expected=wanted.tables)


def checked_level(name: str, epsilon: float) -> float:
    """Return a level that a channel can have, or refuse it by the name it was given under."""
    try:
        asked_epsilon(epsilon)
    except EpsilonError as error:
        problem = f"{name} is no level of privacy"
        raise EpsilonError(problem, given=epsilon, expected="a number such as 2.0") from error
    return float(epsilon)
