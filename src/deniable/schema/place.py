"""Place: a value in a document, the path to it, and the list where its faults are written down.

Reading goes on after a fault, so that one look at a file finds all that is wrong
with it. Every reading method returns None where it has written a fault down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deniable.errors import SurveyFileError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


_MOST_SHOWN = 100
_LONGEST_WORD_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault and where it is."""

    path: str
    problem: str

    def __str__(self) -> str:
        """Name the path, then the problem."""
        return f"{self.path}: {self.problem}"


@dataclass(slots=True)
class Findings:
    """All faults of one document, in the order they were met."""

    found: list[Finding] = field(default_factory=list)

    def refuse(self, source: str) -> None:
        """Raise one error that lists every fault, if there is any.

        Raises:
            SurveyFileError: At least one fault was found.
        """
        if len(self.found) == 1:
            raise SurveyFileError(f"{source} has a problem at {self.found[0]}")
        if self.found:
            lines = [f"\n  {finding}" for finding in self.found[:_MOST_SHOWN]]
            if len(self.found) > _MOST_SHOWN:
                lines.append(f"\n  and {len(self.found) - _MOST_SHOWN} more")
            raise SurveyFileError(f"{source} has {len(self.found)} problems:{''.join(lines)}")


@dataclass(frozen=True, slots=True)
class Place:
    """A value of a document and the path to it."""

    value: object
    path: str
    findings: Findings

    def fault(self, problem: str) -> None:
        """Write a fault of this place down."""
        self.findings.found.append(Finding(self.path or "the top level", problem))

    def below(self, key: str, value: object) -> Place:
        """Return the place of ``value`` under ``key``."""
        return Place(value, f"{self.path}.{key}" if self.path else key, self.findings)

    def table(
        self, known: Collection[str], required: Collection[str] = ()
    ) -> dict[str, Place] | None:
        """Read a table: its known keys; unknown and absent ones are faults."""
        if not isinstance(self.value, dict):
            self.fault(f"expected a table, not {describe(self.value)}")
            return None
        for key in self.value:
            if key not in known:
                self.fault(f"unknown key {shown(key)}; {suggest(key, known)}")
        for key in required:
            if key not in self.value:
                self.fault(f"the key {key!r} is missing")
        return {key: self.below(key, self.value[key]) for key in known if key in self.value}

    def items(self, *, most: int | None = None) -> Iterator[Place]:
        """Walk a list that is not empty."""
        if not isinstance(self.value, list):
            self.fault(f"expected a list, not {describe(self.value)}")
        elif not self.value:
            self.fault("the list is empty")
        elif most is not None and len(self.value) > most:
            self.fault(f"the list has {len(self.value)} entries, more than {most}")
        else:
            for number, value in enumerate(self.value):
                yield Place(value, f"{self.path}[{number}]", self.findings)

    def text(self) -> str | None:
        """Read text."""
        if isinstance(self.value, str):
            return self.value
        self.fault(f"expected text, not {describe(self.value)}")
        return None

    def truth(self) -> bool | None:
        """Read true or false."""
        if isinstance(self.value, bool):
            return self.value
        self.fault(f"expected true or false, not {describe(self.value)}")
        return None

    def integer(self) -> int | None:
        """Read a whole number; 1.0 is one, as in JSON Schema, and true is none."""
        number = self.number()
        if number is None:
            return None
        if not float(number).is_integer():
            self.fault(f"expected a whole number, not {number!r}")
            return None
        return int(number)

    def number(self) -> int | float | None:
        """Read a finite number; true is none."""
        value = self.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self.fault(f"expected a number, not {describe(value)}")
            return None
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite:
            self.fault("expected a finite number of ordinary size")
            return None
        return value

    def one_of(self, words: Collection[str]) -> str | None:
        """Read one of a few words."""
        if isinstance(self.value, str) and self.value in words:
            return self.value
        if isinstance(self.value, str):
            self.fault(f"unknown word {shown(self.value)}; {suggest(self.value, words)}")
        else:
            self.fault(f"expected one of {', '.join(map(repr, words))}, not {describe(self.value)}")
        return None


def describe(value: object) -> str:
    """Say in a few words what a value of a document is."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    words = {int: "a number", float: "a number", str: "text", list: "a list", dict: "a table"}
    return words.get(type(value), f"a {type(value).__name__}")


def shown(word: object) -> str:
    """Quote a word of the document, or its beginning."""
    text = str(word)
    return repr(text if len(text) <= _LONGEST_WORD_SHOWN else text[:_LONGEST_WORD_SHOWN] + "…")


def suggest(word: str, known: Collection[str]) -> str:
    """Propose the nearest known word, or list them all."""
    near = nearest(word, known)
    return f"expected {near}" if near.startswith("one of") else f"did you mean {near}?"
