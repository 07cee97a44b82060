"""Survey files: notation, faults told with their places, privacy, and what comes back."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import pytest

from deniable.errors import EpsilonError, SchemaError, SurveyFileError
from deniable.schema import Attribute, Category, Element, Page, Privacy, Schema, Survey
from deniable.schema.notation import parse_text, to_toml

if TYPE_CHECKING:
    from pathlib import Path

MINIMAL = """
deniable = 1
name = "s"
[privacy]
epsilon = 1
[[pages]]
[[pages.elements]]
type = "boolean"
name = "cheated"
"""
SCHEMA = Schema(tuple(Attribute.nominal(name, ["x", "y"]) for name in ("a", "b", "c")))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('deniable = 1\nname = "s', r"is not TOML: .*line 2, the last"),
        ("deniable = 1\ndeniable = 1", r"is not TOML: .*line 2"),
        ('{"deniable": 1,\n "name" "s"}', r"is not JSON: .* at line 2, column 9"),
        ('{"deniable": 1, "name": "s", "name": "t"}', "'name' occurs twice beside 'deniable'"),
        ('{"deniable": NaN}', "NaN is not a number"),
        ('{"a":' * 100_000, "nested too deeply"),
        ("a = " + "[" * 100_000, "nested too deeply"),
        ('{"deniable": ' + "1" * 5000 + "}", "cannot be read as JSON"),
        ("", "missing"),
    ],
)
def test_text_that_breaks_its_notation_is_refused_with_line_and_column(
    text: str, told: str
) -> None:
    """Syntax errors say where; repeated keys, NaN and absurd nesting are errors too."""
    with pytest.raises(SurveyFileError, match=told):
        Survey.parse(text)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("name = ", "nane = "), r"unknown key 'nane'; did you mean 'name'\?"),
        (("[privacy]", "[privacy]\nepsilom = 2"), r"privacy: unknown key 'epsilom'; did you mean"),
        (("epsilon = 1", "epsilon = inf"), "privacy.epsilon: .* not a finite number above 0"),
        (("epsilon = 1", "epsilon = -2"), r"not a finite number above 0 \(given: -2\)"),
        (("epsilon = 1", 'epsilon = "much"'), r"not a number \(given: 'much'\)"),
        (("epsilon = 1", "epsilon = 1\nk = 9"), r"privacy.k: .* from 1 to 6 \(given: 9\)"),
        (
            ("epsilon = 1", 'epsilon = 1\nchannel = "bst"'),
            r"privacy.channel: this is unknown \(given: 'bst'\); did you mean 'best'\?",
        ),
        (("epsilon = 1", "epsilon = 1\nrepeats = 0"), "repeats: .* above 0, not 0"),
        (("epsilon = 1", "epsilon = nan"), "privacy.epsilon: .* not a finite number above 0"),
        (("epsilon = 1", "epsilon = 2020-01-01"), "privacy.epsilon: .* not a number"),
        (('"boolean"', '"bolean"'), r"elements\[0\]\.type: unknown word 'bolean'; did you mean"),
        (('"cheated"', '"have you?"'), r"elements\[0\]\.name: 'have you\?' cannot be the name"),
    ],
)
def test_a_typo_is_met_with_the_path_and_the_nearest_word(
    change: tuple[str, str], told: str
) -> None:
    """A survey file with a typo gives one sentence that names the place and what was meant."""
    with pytest.raises(SurveyFileError, match=told):
        Survey.parse(MINIMAL.replace(*change))


def test_all_faults_are_told_at_once_up_to_a_hundred() -> None:
    """One look at a file finds everything, each fault on its line; a flood is cut."""
    elements = [{"type": "boolean", "name": f"{number}"} for number in range(150)]
    document = {
        "deniable": 1,
        "name": "s",
        "privacy": {"epsilon": 1},
        "pages": [{"elements": elements}],
    }
    with pytest.raises(SurveyFileError) as refusal:
        Survey.from_dict(document)
    lines = str(refusal.value).splitlines()
    assert lines[0] == "the survey has 150 problems:"
    assert len(lines) == 102
    assert lines[-1] == "  and 50 more."


def test_files_are_read_by_suffix_or_by_content(tmp_path: Path) -> None:
    """TOML and JSON say the same; a byte-order mark and Windows line ends do no harm."""
    survey = Survey.parse(MINIMAL)
    for name in ("s.toml", "s.json", "s.survey"):
        survey.dump(tmp_path / name)
        assert Survey.load(tmp_path / name) == survey
    (tmp_path / "s.survey").write_text(survey.to_text("json"))
    (tmp_path / "w.toml").write_bytes(b"\xef\xbb\xbf" + MINIMAL.replace("\n", "\r\n").encode())
    assert Survey.load(tmp_path / "s.survey") == Survey.load(tmp_path / "w.toml") == survey


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    """Absent files, folders and other encodings are one sentence each."""
    (tmp_path / "latin.toml").write_bytes('title = "Größe"'.encode("latin-1"))
    for name, told in (
        ("absent.toml", "absent.toml cannot be read: No such file"),
        (".", "cannot be read: Is a directory"),
        ("latin.toml", "latin.toml is not UTF-8 text: byte 11"),
    ):
        with pytest.raises(SurveyFileError, match=told):
            Survey.load(tmp_path / name)


def test_defaults_are_filled_in_and_written_out() -> None:
    """What goes without saying in the file is said in the record."""
    survey = Survey.parse(MINIMAL)
    assert survey.privacy == Privacy(1, "ask-one", {}, 1, "respondent")
    assert survey.pages == (Page("page1", (Element("cheated", "boolean"),)),)
    assert (survey.locale, survey.locales) == ("en", ("en",))
    assert survey.heading() == "s"
    assert survey.schema["cheated"].index(True) == 1


def test_languages_are_collected_and_gaps_are_named() -> None:
    """Undeclared locales are gathered from the texts; a missing translation is named."""
    survey = Survey.parse(
        MINIMAL + 'title = { en = "Cheated?", de = "Betrogen?", fr = "Triché ?" }\n'
    )
    assert survey.locales == ("en", "de", "fr")
    texts = {"default": "Cheated?", "de": "Betrogen?", "fr": "Triché ?"}
    assert dict(survey.schema["cheated"].labels) == texts
    assert survey.schema["cheated"].label("fr-CA") == "Triché ?"
    survey = Survey.parse(MINIMAL + 'title = { en = "Cheated?", de = "B?" }\nlabelTrue = "Yes"\n')
    assert survey.untranslated() == ("the answer 'yes' to 'cheated' (de)",)


def test_toml_escapes_what_must_not_stand_as_it_is() -> None:
    """Quotes, control characters, DEL and keys that are not bare survive the round trip."""
    document: dict[str, Any] = {
        'odd "key"': '"\\\n\t\x7f\x01 é 年',
        "numbers": [1, 1.5, float("inf"), True],
        "long": [{"value": "x" * 60}, {"value": "y" * 60}],
        "empty": {},
    }
    assert parse_text(to_toml(document), "toml", "it") == document


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), True, "1", 10**400])
def test_a_level_that_promises_nothing_is_refused(epsilon: object) -> None:
    """Epsilon is a finite number above zero."""
    with pytest.raises(EpsilonError, match="epsilon"):
        Privacy(epsilon)  # type: ignore[arg-type]  # that is the point


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"design": "view"}, "did you mean 'views'"),
        ({"level": "person"}, "unknown level"),
        ({"repeats": 0}, "repeats"),
        ({"repeats": True}, "repeats"),
        ({"options": {"block": 3}}, "did you mean 'block_size'"),
        ({"options": {"k": True}}, r"whole number from 1 to 6 \(given: True\)"),
        ({"options": {"k": 10**99}}, r"\(given: 10{39}\)"),
        ({"options": {"block": 3}}, r"unknown to the design 'ask-one'; did"),
        ({"design": "clusters"}, "'clusters' .* is missing"),
        ({"design": "rrba", "options": {"floor": float("nan")}}, "share above 0"),
    ],
)
def test_privacy_refuses_what_means_nothing(arguments: dict[str, Any], told: str) -> None:
    """Unknown designs, levels and options are errors that name the nearest known."""
    with pytest.raises(SchemaError, match=told):
        Privacy(1, **arguments)


def test_privacy_tells_totals_and_defaults() -> None:
    """Repeats multiply; an option not given has its default; lists are frozen."""
    privacy = Privacy(0.5, "clusters", {"clusters": [["a", "b"], ["c"]]}, repeats=4)
    assert privacy.total_epsilon == 2
    assert privacy.option("channel") == "best"
    assert privacy.option("clusters") == (("a", "b"), ("c",))
    assert pickle.loads(pickle.dumps(privacy)) == privacy  # noqa: S301 -- our own bytes
    with pytest.raises(SchemaError, match="no option 'k'"):
        privacy.option("k")


NUMERIC = Schema((Attribute.numeric("a", [0, 1, 2]),))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"name": "A B"}, "cannot name a survey"),
        ({"pages": (Page("p", (Element("b"), Element("a"), Element("c"))),)}, "in its order"),
        ({"pages": (Page("p", (Element("a"), Element("b"))),)}, "each attribute"),
        ({"schema": NUMERIC, "pages": (Page("p", (Element("a"),)),)}, "being numeric"),
        ({"pages": (Page("p", (Element("a", "rating"), Element("b"), Element("c"))),)}, "order"),
        ({"pages": (Page("p", (Element("a", "boolean"), Element("b"), Element("c"))),)}, "'no'"),
        ({"privacy": Privacy(1, "views", {"k": 4})}, "only 3 attributes"),
        ({"privacy": Privacy(1, options={"groups": [["a"], ["b"]]})}, "'c' out"),
    ],
)
def test_pages_privacy_and_attributes_must_speak_of_the_same_things(
    arguments: dict[str, Any], told: str
) -> None:
    """A survey put together by hand is held to the same rules as a file."""
    usual: dict[str, Any] = {"name": "s", "schema": SCHEMA, "privacy": Privacy(1)}
    with pytest.raises(SchemaError, match=told):
        Survey(**(usual | arguments))


def test_an_element_has_a_widget_and_a_page_has_elements() -> None:
    """Records for the page refuse what no page can show."""
    with pytest.raises(SchemaError, match="unknown widget"):
        Element("a", "checkbox")  # type: ignore[arg-type]
    with pytest.raises(SchemaError, match="is empty"):
        Page("p", ())


def test_the_code_of_a_missing_answer_keeps_out_of_the_way() -> None:
    """It is -1, or the first below that is free, and can be chosen."""
    attribute = Attribute.nominal("a", ["-1", "-2", "5"], missing="category")
    assert attribute.categories[-1] == Category(-3, "missing")
    assert Attribute.nominal("a", ["x"], missing="category").categories[-1].code == -1
