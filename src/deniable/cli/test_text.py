"""What ``deniable test`` prints: one result, or the matrix of all pairs, eighty columns wide."""

from __future__ import annotations

from collections import Counter
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.terminal import COLUMNS, print_facts, print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from deniable.inference import PairTests, TestResult

SURE = 0.001
"""A q-value up to here has the darkest sign."""

LONGEST_NAME = 24
MOST_LISTED = 40
SIGNS = {"sure": "■", "found": "□", "not": "·", "unknown": "?"}


def print_tests() -> None:
    """List every test, its source and what it loses."""
    from deniable.inference import TESTS  # noqa: PLC0415 -- slow to load

    for procedure in TESTS.values():
        click.echo(f"{procedure.name}  [{procedure.citation}]")
        for sentence in (procedure.summary, *(f"loses: {loss}" for loss in procedure.loses)):
            click.echo(_indented(sentence))


def print_result(result: TestResult) -> None:
    """Print one result, or why there is none."""
    click.echo(fill(f"Hypothesis: {result.hypothesis}.", COLUMNS))
    click.echo()
    facts: list[tuple[str, object]] = [("statistic", f"{result.statistic:.4g}")]
    if result.freedom is not None:
        facts.append(("degrees of freedom", f"{result.freedom:.4g}"))
    facts.append(("p-value", "none" if result.shortage else p_value(result.tail)))
    facts += [("people", f"{result.people:,}"), ("method", result.method)]
    print_facts(facts)
    click.echo(_indented(f"[{result.citation}]", " " * 20))
    click.echo()
    click.echo(fill(_verdict(result), COLUMNS))
    for told in result.notes:
        click.echo(_indented(f"– {told}.", ""))


def _verdict(result: TestResult) -> str:
    if result.shortage:
        return (
            f"Too little data: {result.shortage}. A p-value of so few could not be trusted; ask "
            "more people, or with a larger ε."
        )
    if result.tail > 0.05:  # noqa: PLR2004 -- the usual level, said in the sentence
        return (
            "Not rejected at the level .05. That is no proof of the hypothesis: deniable plan "
            "says which association so many people would have shown."
        )
    return "Rejected at the level .05. How strong it is, says deniable derive."


def p_value(tail: float) -> str:
    """Write a tail probability.

    >>> p_value(0.04321), p_value(3.2e-7), p_value(0.0)
    ('0.0432', '3.2e-07', '< 1e-300')
    """
    if tail < 1e-300:  # noqa: PLR2004 -- about where doubles end
        return "< 1e-300"
    return f"{tail:.3f}" if tail >= 0.1 else f"{tail:.4f}" if tail >= 1e-3 else f"{tail:.1e}"  # noqa: PLR2004


def print_pairs(found: PairTests, rate: float) -> None:
    """Print the matrix of all pairs, those called associated, and what could not be tested."""
    for line in matrix_lines(found, rate):
        click.echo(line)
    click.echo()
    _print_discoveries(found, rate)
    reasons = Counter(found.untested.values())
    for reason, count in reasons.most_common():
        click.echo(_indented(f"? {count:,} of the pairs: {reason}", ""))


def matrix_lines(found: PairTests, rate: float) -> Iterator[str]:
    """Yield the lower triangle of the matrix of q-values, a sign for each pair."""
    q = found.adjusted()
    width = min(max(map(len, found.names)), LONGEST_NAME)
    rank = len(str(len(found.names)))
    at_once = max(1, (COLUMNS - width - rank - 2) // (rank + 1))
    for start in range(0, len(found.names) - 1, at_once):
        columns = found.names[start : min(start + at_once, len(found.names) - 1)]
        heads = "".join(
            f"{place:>{rank + 1}}" for place in range(start + 1, start + 1 + len(columns))
        )
        yield f"{'':{width + rank + 1}}{heads}"
        for row in range(start, len(found.names)):
            name = found.names[row]
            signs = [_sign(q, found, (one, name), rate) for one in columns[: row - start]]
            told = "".join(f"{sign:>{rank + 1}}" for sign in signs)
            yield f"{row + 1:>{rank}} {_short(name, width):<{width}}{told}".rstrip()
    yield (
        f"{SIGNS['sure']} q ≤ {SURE:g}  {SIGNS['found']} q ≤ {rate:g}  "
        f"{SIGNS['not']} not called associated  {SIGNS['unknown']} no p-value"
    )


def _sign(
    q: Mapping[tuple[str, str], float], found: PairTests, pair: tuple[str, str], rate: float
) -> str:
    if pair in found.untested:
        return SIGNS["unknown"]
    if q[pair] > rate:
        return SIGNS["not"]
    return SIGNS["sure"] if q[pair] <= SURE else SIGNS["found"]


def _print_discoveries(found: PairTests, rate: float) -> None:
    q = found.adjusted()
    called = sorted(found.discoveries(rate), key=lambda pair: (q[pair], pair))
    tested = len(found.results)
    title = (
        f"{len(called):,} of {tested:,} pairs tested are called associated; of those at most "
        f"{rate:.0%} are expected to be wrong"
    )
    if not called:
        click.echo(fill(f"{title}.", COLUMNS))
        return
    rows = [_row(pair, found.results[pair], q[pair]) for pair in called[:MOST_LISTED]]
    print_table(("pair", "statistic", "df", "p", "q"), rows, title=title)
    if len(called) > MOST_LISTED:
        click.echo(f"… and {len(called) - MOST_LISTED:,} more; --format json prints all")


def _row(pair: tuple[str, str], result: TestResult, q: float) -> tuple[str, ...]:
    names = " × ".join(_short(name, LONGEST_NAME) for name in pair)
    freedom = "" if result.freedom is None else f"{result.freedom:.4g}"
    return names, f"{result.statistic:.4g}", freedom, p_value(result.tail), p_value(q)


def record(result: TestResult) -> dict[str, Any]:
    """Return a result as JSON has it; the p-value is null where the data are too few."""
    return {
        "hypothesis": result.hypothesis,
        "method": result.method,
        "citation": result.citation,
        "statistic": result.statistic,
        "freedom": result.freedom,
        "p_value": None if result.shortage else result.tail,
        "people": result.people,
        "too_little_data": result.shortage or None,
        "notes": list(result.notes),
    }


def records(found: PairTests) -> Sequence[Mapping[str, Any]]:
    """Return every pair as JSON has it, those that could not be tested with the reason."""
    q = found.adjusted()
    tested = [
        {"pair": list(pair), **record(result), "q_value": q[pair]}
        for pair, result in found.results.items()
    ]
    untested = [
        {"pair": list(pair), "p_value": None, "q_value": None, "too_little_data": reason}
        for pair, reason in found.untested.items()
    ]
    return [*tested, *untested]


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"


def _indented(sentence: str, indent: str = "    ") -> str:
    return fill(sentence, COLUMNS, initial_indent=indent, subsequent_indent=indent + "  ")
