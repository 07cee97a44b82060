"""Make a survey file from data or from another program's form."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.cli.terminal import note, require_new
from deniable.errors import SurveyFileError
from deniable.schema import Privacy, Survey
from deniable.schema.foreign import survey_name
from deniable.schema.notation import parse_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from deniable.schema.draft import Omitted

_EPSILON = click.option(
    "--epsilon", type=float, default=1.0, show_default=True, help="The level that is promised."
)
_NAME = click.option("--name", help="The survey's name; the file's without it.")
_BINS = click.option(
    "--bins",
    "bins_texts",
    metavar="NAME=EDGE,EDGE,…",
    multiple=True,
    help="Edges for a numeric attribute, as in age=18,30,65,inf. May be repeated.",
)
_OUTPUT = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The survey file to write (.toml or .json); the terminal without it.",
)
_REPLACE = click.option(
    "--replace", "replaces", is_flag=True, help="Replace a survey file that is there."
)
_ENDINGS = (".toml", ".json")


@click.group()
def command() -> None:
    """Make a survey file from data or from another program's form."""


@command.command(short_help="Propose a survey file for a data file that you hold.")
@click.argument("data", type=click.Path(path_type=Path, dir_okay=False))
@_EPSILON
@_NAME
@_BINS
@click.option("--columns", metavar="NAME,NAME,…", help="The columns to take; all without it.")
@click.option(
    "--missing-word",
    "missing_words",
    multiple=True,
    default=("?",),
    show_default=True,
    help="Text that stands for a missing answer. May be repeated.",
)
@_OUTPUT
@_REPLACE
def infer(
    data: Path,
    *,
    epsilon: float,
    name: str | None,
    bins_texts: tuple[str, ...],
    columns: str | None,
    missing_words: tuple[str, ...],
    output: Path | None,
    replaces: bool,
) -> None:
    """Propose a survey file for a data file (.csv, .parquet) that you hold.

    Which categories exist and how far numbers reach is read off the data, and
    may tell something about the people in them: read the proposal before you
    use it.
    """
    from deniable.bulk.infer import DomainFromDataWarning, infer_schema  # noqa: PLC0415 -- slow
    from deniable.bulk.source import read_table  # noqa: PLC0415

    _check_output(output, replaces=replaces)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", DomainFromDataWarning)
        schema = infer_schema(
            read_table(data),
            columns=columns.split(",") if columns else None,
            bins=_edges(bins_texts),
            missing_words=missing_words,
        )
    survey = Survey(name or survey_name(data.stem), schema, Privacy(epsilon))
    for warning in caught:
        note(f"note: {warning.message}.")
    _write(survey, output)


@command.command("import")
@click.argument("forms", nargs=-1, required=True, type=click.Path(path_type=Path, dir_okay=False))
@_EPSILON
@_NAME
@_BINS
@_OUTPUT
@_REPLACE
def import_form(
    forms: tuple[Path, ...],
    *,
    epsilon: float,
    name: str | None,
    bins_texts: tuple[str, ...],
    output: Path | None,
    replaces: bool,
) -> None:
    """Make a survey file of a SurveyJS or XLSForm definition.

    FORMS is a SurveyJS definition (.json), an XLSForm workbook (.xlsx), or its
    sheets survey and choices saved as two .csv files, in this order. What the
    survey does not have is listed on stderr, with the reason.
    """
    _check_output(output, replaces=replaces)
    read = _importer(forms)
    survey, omitted = read(
        privacy=Privacy(epsilon), name=name or survey_name(forms[0].stem), bins=_edges(bins_texts)
    )
    for omission in omitted:
        note(f"left out: {omission.path}: {omission.reason}")
    _write(survey, output)


def _importer(forms: tuple[Path, ...]) -> Callable[..., tuple[Survey, list[Omitted]]]:
    from deniable.schema import sheets, surveyjs, xlsform  # noqa: PLC0415 -- seldom needed

    match [form.suffix.lower() for form in forms]:
        case [".json"]:
            document = parse_text(_text_of(forms[0]), "json", forms[0].name)
            return lambda **options: surveyjs.import_surveyjs(document, **options)
        case [".xlsx"]:
            rows = sheets.read_workbook(forms[0].read_bytes())
        case [".csv", ".csv"]:
            texts = map(_text_of, forms)
            rows = dict(zip(("survey", "choices"), map(sheets.read_csv, texts), strict=True))
        case suffixes:
            raise SurveyFileError(
                "these are no forms that can be imported",
                given=" ".join(suffixes),
                expected="one .json, one .xlsx, or two .csv files",
            )
    return lambda **options: xlsform.import_xlsform(rows, **options)


def _text_of(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise SurveyFileError(
            f"{path.name} is not UTF-8 text: byte {error.start} fits no character"
        ) from error


def _edges(texts: tuple[str, ...]) -> dict[str, list[float]]:
    edges = {}
    for text in texts:
        name, _, listed = text.partition("=")
        try:
            edges[name] = [float(edge) for edge in listed.split(",")]
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not of the form age=18,30,65", param_hint="--bins"
            ) from None
    return edges


def _check_output(output: Path | None, *, replaces: bool) -> None:
    """Refuse to write what the name does not say, or over what somebody may have corrected."""
    if output is not None and output.suffix.lower() not in _ENDINGS:
        problem = f"the name of {output.name} does not say how the survey is to be written"
        raise SurveyFileError(problem, expected=" or ".join(_ENDINGS))
    require_new(output, replace=replaces)


def _write(survey: Survey, output: Path | None) -> None:
    if output is None:
        click.echo(survey.to_text(), nl=False)
    else:
        survey.dump(output)
        note(f"wrote {output.name}: {len(survey.schema.attributes)} attributes")
