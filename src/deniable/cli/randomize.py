"""Randomize a file of answers into a file of reports that is safe to keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.channels import format_epsilon
from deniable.cli.terminal import note, print_facts, progress
from deniable.protocol import attribute_epsilons, design_from_bytes, view_epsilons
from deniable.schema import Survey

if TYPE_CHECKING:
    from deniable.bulk import Written
    from deniable.protocol import Design

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("answers", type=_PATH)
@click.option("-o", "--output", type=_PATH, required=True, help="Where the reports go.")
@click.option("--survey", "survey_file", type=_PATH, help="The survey that was asked.")
@click.option("--design", "design_file", type=_PATH, help="Or a design; the answers are codes.")
@click.option("--epsilon", type=float, help="The level, instead of the survey's own.")
@click.option("--ids", is_flag=True, help="Give each report a random id.")
@click.option("--keep-order", is_flag=True, help="Leave report number i to row number i.")
@click.option("--threads", type=click.IntRange(1), help="How many threads; all by default.")
@click.option("--replace", "replaces", is_flag=True, help="Replace reports that are there.")
@click.option("--unsafe-seed", type=int, help="Repeatable reports, which protect nobody.")
def command(  # noqa: PLR0913 -- one parameter for each word of the command
    *,
    answers: Path,
    output: Path,
    survey_file: Path | None,
    design_file: Path | None,
    epsilon: float | None,
    ids: bool,
    keep_order: bool,
    threads: int | None,
    replaces: bool,
    unsafe_seed: int | None,
) -> None:
    """Randomize a file of answers into a file of reports that is safe to keep.

    ANSWERS and the output are CSV or Parquet files, by the endings of their names. Every
    row is one respondent, every column one attribute of the survey; other columns are not
    read. Nothing is written unless every answer lies in its domain.
    """
    from deniable.bulk import randomize_file, rows_of  # noqa: PLC0415 -- slow to load

    promise = _promise(survey_file, design_file, epsilon)
    if unsafe_seed is not None:
        note("UNSAFE: whoever knows the seed can undo these reports. Never publish them.")
    with progress("Randomizing", rows_of(answers)) as done:
        written = randomize_file(
            answers,
            output,
            promise,
            replace=replaces,
            ids=ids,
            order="kept" if keep_order else "shuffled",
            threads=threads,
            progress=done,
            unsafe_seed=unsafe_seed,
        )
    print_facts(_facts(written))
    note(f"Next: deniable estimate {output}")


def _promise(
    survey_file: Path | None, design_file: Path | None, epsilon: float | None
) -> Survey | Design:
    if (survey_file is None) == (design_file is None):
        message = "give either --survey or --design"
        raise click.UsageError(message)
    if design_file is not None:
        if epsilon is not None:
            message = "--epsilon goes with --survey; a design has its own"
            raise click.UsageError(message)
        return design_from_bytes(design_file.read_text(encoding="utf-8"))
    assert survey_file is not None  # noqa: S101 -- for the type checker
    survey = Survey.load(survey_file)
    if epsilon is None:
        return survey
    return replace(survey, privacy=replace(survey.privacy, epsilon=epsilon))


def _facts(written: Written) -> list[tuple[str, object]]:
    """Say what was spent, rounded up, in the words of the ledger."""
    design = written.provenance.design
    (block,) = written.provenance.blocks
    by_attribute = sorted(
        zip(attribute_epsilons(design, block.channels), design.names, strict=True), reverse=True
    )
    (most, costliest), (least, _) = by_attribute[0], by_attribute[-1]
    attribute = f"at most {format_epsilon(most)}" + (f" ({costliest})" if most > least else "")
    return [
        ("reports", f"{written.rows:,} in {written.path}"),
        ("design", f"{design.protocol}, {len(design.views)} {_plural('view', len(design.views))}"),
        ("ε per answer", f"at most {format_epsilon(max(view_epsilons(block.channels)))}"),
        ("ε per attribute", attribute),
        ("digest", design.digest),
    ]


def _plural(word: str, count: int) -> str:
    return word if count == 1 else f"{word}s"
