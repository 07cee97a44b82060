"""What ``deniable regress`` prints."""

from __future__ import annotations

import json
import math
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from deniable.cli.derive import as_csv, finite
from deniable.cli.derive import number as four_digits
from deniable.cli.terminal import COLUMNS as WIDTH
from deniable.cli.terminal import print_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from deniable.inference import Estimate, Regression, TestResult

COLUMNS = (
    *("outcome", "coefficient", "estimate", "se", "low", "high", "z", "p", "odds_ratio"),
    *("odds_low", "odds_high", "level", "by", "n"),
)


def print_regression(
    found: Regression,
    tests: Sequence[TestResult],
    chances: Sequence[Sequence[Estimate]],
    *,
    form: str,
    level: float,
) -> None:
    """Print a regression with tests of its terms and predicted chances, as a person asked.

    Args:
        found: The regression.
        tests: Of its terms.
        chances: Predicted for some people each.
        form: ``text``, ``csv`` or ``json``.
        level: Of the intervals.
    """
    rows = [_record(found, place, level) for place in range(len(found.coefficients))]
    if form == "csv":
        click.echo(as_csv(rows, COLUMNS), nl=False)
        return
    if form == "json":
        click.echo(json.dumps(_told(found, rows, tests, chances, level), indent=2))
        return
    _show(found, level)
    _show_tests(tests)
    _show_chances(chances, level)
    for told in found.notes:
        click.echo(fill(f"{told}.", WIDTH))


def _show(found: Regression, level: float) -> None:
    question, people = found.question, f"{found.people:,} people"
    against = question.categories[question.reference]
    heads = ("coefficient", "estimate", "se", "p", "odds ratio", f"{level:.0%} interval")
    for category in dict.fromkeys(one.category for one in found.coefficients):
        rows = []
        for one in found.coefficients:
            if one.category != category:
                continue
            low, high, _ = one.odds_ratio.interval(level)
            error = one.estimate.standard_error
            where = "unknown" if math.isnan(low) else f"{number(low)} – {number(high)}"
            rows.append(
                (
                    *(one.label, number(one.estimate.value)),
                    *("" if math.isnan(error) else number(error), tail(one.p_value)),
                    *(number(one.odds_ratio.value), where),
                )
            )
        title = f"{question.outcome}: {category} rather than {against}, {people}"
        print_table(heads, rows, title=title)
        click.echo()


def _show_tests(tests: Sequence[TestResult]) -> None:
    if tests:
        rows = [
            (test.hypothesis, number(test.statistic), str(test.freedom), tail(test.tail))
            for test in tests
        ]
        print_table(("by likelihood ratio", "χ²", "df", "p"), rows)
        click.echo()


def _show_chances(chances: Sequence[Sequence[Estimate]], level: float) -> None:
    for some in chances:
        rows = []
        for one in some:
            low, high, _ = one.interval(level)
            where = "unknown" if math.isnan(low) else f"{number(low)} – {number(high)}"
            rows.append((one.name, number(one.value), where))
        print_table(
            ("chance", "estimate", f"{level:.0%} interval"), rows, title=", ".join(some[0].of)
        )
        click.echo()


def number(value: float) -> str:
    """Return a number with four decimals, or if it is very small with two digits that count.

    >>> number(0.25), number(0.0000412)
    ('0.2500', '4.1e-05')
    """
    return f"{value:.1e}" if 0 < abs(value) < 0.001 else four_digits(value)  # noqa: PLR2004


def tail(p_value: float) -> str:
    """Return a p-value with two digits that count, or that it is very small.

    >>> tail(0.0371), tail(1e-9)
    ('0.037', '< 0.001')
    """
    if math.isnan(p_value):
        return ""
    return f"{p_value:.3f}" if p_value >= 0.001 else "< 0.001"  # noqa: PLR2004


def _record(found: Regression, place: int, level: float) -> Mapping[str, Any]:
    one = found.coefficients[place]
    low, high, _ = one.estimate.interval(level)
    odds_low, odds_high, _ = one.odds_ratio.interval(level)
    return {
        "outcome": one.category,
        "coefficient": one.label,
        "estimate": finite(one.estimate.value),
        "se": finite(one.estimate.standard_error),
        "low": finite(low),
        "high": finite(high),
        "z": finite(one.z),
        "p": finite(one.p_value),
        "odds_ratio": finite(one.odds_ratio.value),
        "odds_low": finite(odds_low),
        "odds_high": finite(odds_high),
        "level": level,
        "by": found.by,
        "n": found.people,
    }


def _told(
    found: Regression,
    rows: Sequence[Mapping[str, Any]],
    tests: Sequence[TestResult],
    chances: Sequence[Sequence[Estimate]],
    level: float,
) -> dict[str, Any]:
    question = found.question
    return {
        "outcome": question.outcome,
        "reference": question.categories[question.reference],
        "terms": list(question.formula.labels),
        "people": found.people,
        "log_likelihood": found.likelihood,
        "coefficients": rows,
        "terms_tested": [
            {
                "hypothesis": test.hypothesis,
                "chi_squared": test.statistic,
                "freedom": test.freedom,
                "p": test.tail,
            }
            for test in tests
        ],
        "predictions": [
            {
                "of": list(one.of),
                "what": one.name,
                "estimate": one.value,
                "se": finite(one.standard_error),
                "low": finite(one.interval(level).low),
                "high": finite(one.interval(level).high),
            }
            for some in chances
            for one in some
        ],
        "shortage": found.shortage,
        "notes": list(found.notes),
        "citation": found.citation,
    }
