"""Every error of the house, in one tree.

An error is a sentence to a person: what is wrong, what was given, what would
have been right. It never contains an answer. Each class carries a stable
``code``, shared with the browser and the server through ``spec/errors.json``;
the server adds the HTTP status from there (RFC 9457).
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable


class DeniableError(Exception):
    """Anything this package refuses to do."""

    code: ClassVar[str] = "error"

    def __init__(self, problem: str, *, given: object = None, expected: str | None = None) -> None:
        """Compose the sentence.

        Args:
            problem: What is wrong, without a full stop.
            given: What was given, if saying it reveals no answer.
            expected: What would have been right.
        """
        self.problem = problem
        self.given = given
        self.expected = expected
        parts = [problem]
        if given is not None:
            parts[0] += f" (given: {given!r})"
        if expected is not None:
            parts.append(f"expected {expected}")
        sentence = "; ".join(parts)
        super().__init__(sentence if sentence.endswith("?") else sentence + ".")

    def __reduce__(self) -> tuple[object, ...]:
        """Survive the trip between worker processes."""
        return (_rebuild, (type(self), self.problem, self.given, self.expected))


def _rebuild(
    kind: type[DeniableError], problem: str, given: object, expected: str | None
) -> DeniableError:
    return kind(problem, given=given, expected=expected)


class SchemaError(DeniableError):
    """What is asked does not make sense."""

    code = "invalid-schema"


class SurveyFileError(SchemaError):
    """A survey file cannot be read as one."""

    code = "invalid-survey-file"


class AnswerError(DeniableError):
    """An answer lies outside its attribute's domain. The answer is not named."""

    code = "answer-outside-domain"


class ChannelError(DeniableError):
    """A channel is malformed or cannot be built as asked."""

    code = "invalid-channel"


class EpsilonError(ChannelError):
    """A privacy level is not a positive finite number, or cannot be reached."""

    code = "invalid-epsilon"


class DesignError(DeniableError):
    """A design, view or block is malformed."""

    code = "invalid-design"


class DigestError(DeniableError):
    """Something was made for another design or block than the one at hand."""

    code = "wrong-digest"


class ReportError(DeniableError):
    """A report is not one that the design allows."""

    code = "invalid-report"


class TallyError(DeniableError):
    """Tallies that cannot be read or added."""

    code = "invalid-tally"


class PrivacyRefusedError(DeniableError):
    """The device was asked for more than the respondent agreed to. No coin was tossed."""

    code = "privacy-refused"


class LedgerError(PrivacyRefusedError):
    """The respondent's own cap on spent privacy would be exceeded."""

    code = "privacy-cap-reached"


class StorageError(DeniableError):
    """Something could not be kept, or not be read back."""

    code = "storage-failed"


class SubmissionError(DeniableError):
    """A report did not reach the server; it may be sent again unchanged."""

    code = "submission-failed"


class CollectionError(DeniableError):
    """A server cannot do what a request asks."""

    code = "collection-refused"


class RequestError(CollectionError):
    """A request cannot be read."""

    code = "invalid-request"


class NotFoundError(CollectionError):
    """There is nothing of that name."""

    code = "not-found"


class ConflictError(CollectionError):
    """A report of the same id was kept and says something else."""

    code = "report-conflict"


class StateError(CollectionError):
    """A survey is not in the state of its life in which this can be done."""

    code = "wrong-state"


class TwiceError(CollectionError):
    """Reports that were counted here already came a second time in another tally."""

    code = "already-merged"


class InvitationError(CollectionError):
    """A report came without an invitation that is still good."""

    code = "invitation-refused"


class TokenError(CollectionError):
    """A request carries no valid token."""

    code = "token-refused"


class ScopeError(CollectionError):
    """A token does not allow what was asked."""

    code = "scope-refused"


class TooLargeError(CollectionError):
    """A request is larger than the server reads."""

    code = "too-large"


class RateError(CollectionError):
    """Requests come faster than the server allows."""

    code = "too-often"
    wait: float = 1.0
    """Seconds after which one more may come."""


class BusyError(CollectionError):
    """The server has more to keep than it can at the moment; a later try will do."""

    code = "busy"


class DataError(DeniableError):
    """A data frame or file does not fit what was asked of it."""

    code = "invalid-data"


class EstimationError(DeniableError):
    """The reports cannot carry what was asked of them."""

    code = "cannot-estimate"


class SharingError(DeniableError):
    """A secure sum cannot be completed, or its result cannot be right."""

    code = "sharing-failed"


class MissingExtraError(DeniableError):
    """An optional dependency is not installed."""

    code = "missing-extra"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return ``"did you mean 'x'?"`` material: the nearest known words, or all of them.

    >>> nearest("titel", ["title", "name"])
    "'title'"
    >>> nearest("zzz", ["title", "name"])
    "one of 'name', 'title'"
    """
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.6)
    if close:
        return repr(close[0])
    return "one of " + ", ".join(map(repr, known))
