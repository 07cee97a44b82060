"""The survey file's reference page says what the parser knows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from deniable.schema import Survey
from deniable.schema.choices import CHOICE_KEYS
from deniable.schema.elements import ELEMENT_KEYS
from deniable.schema.privacy import CHANNELS, COVERS, DESIGNS, LEVELS, OPTIONS, RULES
from deniable.schema.privacy_table import PRIVACY_KEYS
from deniable.schema.surveyfile import PAGE_KEYS, SURVEY_KEYS

if TYPE_CHECKING:
    from pathlib import Path


def test_the_reference_names_every_key_and_every_word(root: Path) -> None:
    """A key, design or option that is not explained fails here, and so does one that is gone."""
    page = (root / "docs" / "reference" / "survey-file.md").read_text("utf-8")
    named = set(re.findall(r'`"?([A-Za-z][A-Za-z_-]*)"?`', page))
    keys = {key for keys in (*ELEMENT_KEYS.values(), *OPTIONS.values()) for key in keys}
    keys |= {*SURVEY_KEYS, *PAGE_KEYS, *PRIVACY_KEYS, *CHOICE_KEYS}
    words = {*ELEMENT_KEYS, *DESIGNS, *LEVELS, *CHANNELS, *COVERS, *RULES, "refuse", "category"}
    assert keys | words <= named
    others = {"default", "no", "yes", "false", "true", "inf", "number", "range", "missing", "en"}
    assert {word for word in named - others if not re.fullmatch(r"page\d", word)} <= keys | words


def test_the_options_of_each_design_are_those_listed(root: Path) -> None:
    """The row of each design names its options, and no others."""
    page = (root / "docs" / "reference" / "survey-file.md").read_text("utf-8")
    for design in DESIGNS:
        row = next(line for line in page.splitlines() if line.startswith(f'| `"{design}"`'))
        assert set(re.findall(r"`(\w+)`", row.split("|")[3])) == set(OPTIONS[design])


def test_the_example_of_the_reference_is_a_survey(root: Path) -> None:
    """What the page shows can be copied and used."""
    page = (root / "docs" / "reference" / "survey-file.md").read_text("utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert Survey.parse(example).schema.names == ("cheated", "grades")
