"""Check a survey file and say what it promises, without doing anything."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from deniable.channels import format_epsilon
from deniable.cli.terminal import note, print_facts, print_table
from deniable.protocol.compile import design_for
from deniable.schema import Privacy, Survey
from deniable.schema.canonical import spell_number

if TYPE_CHECKING:
    from deniable.protocol.design import Design


@click.command()
@click.argument("survey_file", metavar="SURVEY", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the survey in full as JSON instead.")
def command(survey_file: Path, *, as_json: bool) -> None:
    """Check a survey file and say what it promises, without doing anything.

    Every fault is listed with its place in the file, and the exit code is then
    2. A design that cannot be had at the promised level is a fault too.
    """
    survey = Survey.load(survey_file)
    design = design_for(survey)
    if as_json:
        click.echo(survey.to_text("json"), nl=False)
    else:
        print_facts(_facts(survey, design))
        print_table(
            ("attribute", "kind", "cells", "answers"),
            [
                (attribute.name, attribute.kind, attribute.size, _shortened(attribute.cell_names))
                for attribute in survey.schema.attributes
            ],
        )
    for text in survey.untranslated():
        note(f"not translated: {text}")


def _facts(survey: Survey, design: Design) -> list[tuple[str, object]]:
    return [
        ("survey", survey.heading()),
        ("name", survey.name),
        ("languages", ", ".join(survey.locales)),
        ("promise", _promise(survey.privacy)),
        ("ε per answer", f"at most {format_epsilon(max(design.view_costs))}"),
        ("ε per attribute", f"at most {format_epsilon(max(design.attribute_costs))}"),
        ("design", survey.privacy.design + _options(survey.privacy)),
        ("views", f"{len(design.views)}, the largest group having {_largest(design)} cells"),
        ("digest", f"{survey.digest()} (survey)"),
        ("", f"{design.digest} (design)"),
    ]


def _largest(design: Design) -> int:
    return max(group.size for view in design.views for group in view.groups)


def _promise(privacy: Privacy) -> str:
    protected = "all answers" if privacy.level == "respondent" else "each answer by itself"
    times = f", {privacy.repeats} times" if privacy.repeats > 1 else ""
    return f"epsilon {spell_number(privacy.epsilon)} for {protected} of a respondent{times}"


def _options(privacy: Privacy) -> str:
    given = [f"{key} {_listed(value)}" for key, value in privacy.options.items()]
    return f" ({', '.join(given)})" if given else ""


def _listed(value: object) -> str:
    if isinstance(value, tuple):
        return " | ".join(" ".join(group) for group in value)
    return str(value)


def _shortened(names: tuple[str, ...]) -> str:
    shown = 6
    return ", ".join(names[:shown]) + (f", … ({len(names)} in all)" if len(names) > shown else "")
