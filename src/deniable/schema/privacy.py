"""Privacy: what a survey promises, and the design that is to keep the promise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from deniable.errors import EpsilonError, SchemaError
from deniable.schema.frozen import FrozenMap
from deniable.schema.place import shown, suggest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

DesignName: TypeAlias = Literal[
    "ask-one", "independent", "joint", "clusters", "views", "rrba", "two-stage"
]
Level: TypeAlias = Literal["respondent", "attribute"]

NO_OPTIONS: Final[FrozenMap[object]] = FrozenMap()
DESIGNS: Final[tuple[DesignName, ...]] = get_args(DesignName)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
CHANNELS: Final = ("best", "k-ary", "subset", "two-coin")
COVERS: Final = ("sets", "pairs")
RULES: Final = ("classic-blocks", "classic-clients")
MOST_K: Final = 6

_LONGEST_NUMBER_SHOWN: Final = 40

# Which options each design knows, with what holds where they are not given;
# None stands for an option that is then absent altogether.
OPTIONS: Final[Mapping[str, Mapping[str, object]]] = {
    "ask-one": {
        "channel": "best",
        "k": 2,
        "cover": "sets",
        "max_cells": None,
        "groups": None,
        "block_size": None,
    },
    "independent": {"channel": "best", "block_size": None},
    "joint": {"channel": "best", "block_size": None},
    "clusters": {"channel": "best", "clusters": None, "block_size": None},
    "views": {
        "channel": "best",
        "k": 2,
        "cover": "sets",
        "max_cells": None,
        "block_size": None,
    },
    "rrba": {
        "channel": "two-coin",
        "k": 2,
        "cover": "sets",
        "max_cells": None,
        "block_size": 250,
        "floor": 0.1,
        "rule": "classic-blocks",
    },
    "two-stage": {
        "channel": "best",
        "k": 2,
        "cover": "sets",
        "max_cells": None,
        "groups": None,
        "block_size": None,
    },
}
REQUIRED_OPTIONS: Final = {"clusters": ("clusters",), "two-stage": ("block_size",)}


@dataclass(frozen=True, slots=True)
class Privacy:
    """The level of local differential privacy, and how it is to be had.

    Attributes:
        epsilon: The level of one submission. Smaller is more private.
        design: The name of the protocol that spends it; ``deniable.protocol`` makes it one.
        options: What that design needs besides; see ``OPTIONS``.
        repeats: How often one respondent may answer afresh. Each time costs epsilon again.
        level: Whether epsilon protects all the answers of a respondent taken
            together, or each attribute's answer by itself.
    """

    epsilon: float
    design: DesignName = "ask-one"
    options: Mapping[str, object] = NO_OPTIONS
    repeats: int = 1
    level: Level = "respondent"

    def __post_init__(self) -> None:
        """Refuse levels that promise nothing and options that mean nothing."""
        fault = epsilon_fault(self.epsilon)
        if fault:
            raise EpsilonError(
                f"epsilon {fault}", given=self.epsilon, expected="a finite number above 0"
            )
        for value, words, what in (
            (self.design, DESIGNS, "design"),
            (self.level, LEVELS, "level"),
        ):
            if value not in words:
                raise SchemaError(f"unknown {what} {value!r}; {suggest(str(value), words)}")
        if type(self.repeats) is not int or self.repeats < 1:
            raise SchemaError(
                "repeats is not a whole number above 0", given=self.repeats, expected="1 or more"
            )
        object.__setattr__(self, "epsilon", float(self.epsilon))
        options = {key: frozen(value) for key, value in self.options.items()}
        object.__setattr__(self, "options", FrozenMap(options))
        for key, fault in option_faults(self.design, options):
            told = with_given(fault, options.get(key)) if key in OPTIONS[self.design] else fault
            raise SchemaError(f"the option {key!r} of the design {self.design!r} {told}")

    @property
    def total_epsilon(self) -> float:
        """What a respondent spends who answers as often as allowed."""
        return self.epsilon * self.repeats

    def option(self, key: str) -> object:
        """Return an option as given, or what holds without it."""
        if key not in OPTIONS[self.design]:
            raise SchemaError(
                f"the design {self.design!r} has no option {key!r}; "
                f"{suggest(key, OPTIONS[self.design])}"
            )
        return self.options.get(key, OPTIONS[self.design][key])


def epsilon_fault(epsilon: object) -> str | None:
    """Say what keeps a value from being a level of privacy, if anything does."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, Real):
        return "is not a number"
    try:
        finite = math.isfinite(epsilon)
    except OverflowError:  # a whole number of hundreds of digits
        finite = False
    return None if finite and float(epsilon) > 0 else "is not a finite number above 0"


def with_given(fault: str, value: object) -> str:
    """Say in a fault what was given, if that is a single word or number.

    >>> with_given("is unknown; did you mean 'best'?", "bst")
    "is unknown (given: 'bst'); did you mean 'best'?"
    """
    if not isinstance(value, str | int | float):
        return fault
    what, mark, hint = fault.partition("; ")
    given = shown(value) if isinstance(value, str) else str(value)[:_LONGEST_NUMBER_SHOWN]
    return f"{what} (given: {given}){mark}{hint}"


def frozen(value: object) -> object:
    """Turn lists into tuples, all the way down."""
    return tuple(map(frozen, value)) if isinstance(value, list | tuple) else value


def option_faults(design: str, options: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each option that is unknown, absent or wrong, and what is the matter with it."""
    for key, value in options.items():
        if key not in OPTIONS[design]:
            yield key, f"is unknown to the design {design!r}; {suggest(key, OPTIONS[design])}"
        else:
            fault = _OPTION_FAULTS[key](value)
            if fault:
                yield key, fault
    for key in REQUIRED_OPTIONS.get(design, ()):
        if key not in options:
            yield key, "is missing"
    if design == "rrba" and options.get("channel", "two-coin") != "two-coin":
        yield "channel", "must be 'two-coin', whose fake distribution the rule updates"
    for key in ("k", "cover"):
        if key in options and "groups" in options:
            yield "groups", f"and {key!r} exclude each other"


def membership_faults(privacy: Privacy, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield each option that does not fit the attributes asked, and why."""
    k = privacy.options.get("k")
    if isinstance(k, int) and k > len(names):
        yield "k", f"is {k}, but the survey has only {len(names)} attributes"
    for key in ("clusters", "groups"):
        groups = privacy.options.get(key)
        if not isinstance(groups, tuple):
            continue
        members = [member for group in groups for member in group]
        for member in dict.fromkeys(members):
            if member not in names:
                yield key, f"names {member!r}, which no element has; {suggest(member, names)}"
        for name in names:
            if key == "groups" and name not in members:
                yield key, f"leaves the attribute {name!r} out"
            if key == "clusters" and members.count(name) > 1:
                yield key, f"holds the attribute {name!r} more than once"


def _word_fault(words: Sequence[str]) -> Callable[[object], str | None]:
    def fault(value: object) -> str | None:
        if value in words:
            return None
        hint = suggest(value, words) if isinstance(value, str) else f"expected one of {words}"
        return f"is unknown; {hint}"

    return fault


def _k_fault(value: object) -> str | None:
    within = type(value) is int and 1 <= value <= MOST_K
    return None if within else f"is not a whole number from 1 to {MOST_K}"


def _size_fault(value: object) -> str | None:
    return None if type(value) is int and value >= 1 else "is not a whole number above 0"


def _cells_fault(value: object) -> str | None:
    within = type(value) is int and value > 1
    return None if within else "is not a whole number above 1"


def _floor_fault(value: object) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    within = is_number and 0 < value <= 1  # type: ignore[operator]  # a number, as just said
    return None if within else "is not a share above 0 and at most 1"


def _groups_fault(value: object) -> str | None:
    if not isinstance(value, list | tuple) or not value:
        return "is not a list of lists of attribute names"
    for group in value:
        if not isinstance(group, list | tuple) or not group:
            return "is not a list of lists of attribute names"
        if not all(isinstance(name, str) for name in group):
            return "is not a list of lists of attribute names"
        if len(set(group)) < len(group):
            return "holds a group with one attribute twice"
    return None


_OPTION_FAULTS: Final[Mapping[str, Callable[[object], str | None]]] = {
    "channel": _word_fault(CHANNELS),
    "rule": _word_fault(RULES),
    "cover": _word_fault(COVERS),
    "k": _k_fault,
    "max_cells": _cells_fault,
    "block_size": _size_fault,
    "floor": _floor_fault,
    "clusters": _groups_fault,
    "groups": _groups_fault,
}
