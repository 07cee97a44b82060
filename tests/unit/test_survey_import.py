"""Import of foreign forms: what comes along, and what is told to be left out."""

from __future__ import annotations

import io
import zipfile
from typing import Any
from xml.sax.saxutils import escape

import pytest

from deniable.errors import SurveyFileError
from deniable.schema import Privacy, Survey
from deniable.schema.sheets import Row, read_csv, read_workbook
from deniable.schema.surveyjs import import_surveyjs
from deniable.schema.xlsform import import_xlsform

PRIVACY = Privacy(1)


def surveyjs(*elements: dict[str, Any], **top: object) -> tuple[Survey, dict[str, str]]:
    """Import a definition of one page; the omissions by path."""
    survey, omitted = import_surveyjs(
        {"pages": [{"elements": list(elements)}], **top}, privacy=PRIVACY, bins={"age": [0, 18, 99]}
    )
    assert Survey.parse(survey.to_text()) == survey
    return survey, {omission.path: omission.reason for omission in omitted}


ANY = {"type": "boolean", "name": "any", "isRequired": True}
HERE = "pages[0].elements[0]"


@pytest.mark.parametrize(
    ("element", "cells"),
    [
        ({"type": "radiogroup", "choices": ["x", "y"]}, {"q": ("x", "y", "missing")}),
        (
            {"type": "dropdown", "choices": [{"value": 2, "text": "two"}, 1], "isRequired": True},
            {"q": ("2", "1")},
        ),
        (
            {
                "type": "imagepicker",
                "choices": [{"value": "lion", "imageLink": "l.png"}, "bear"],
                "isRequired": True,
            },
            {"q": ("lion", "bear")},
        ),
        (
            {
                "type": "radiogroup",
                "choices": ["x"],
                "showNoneItem": True,
                "showOtherItem": True,
                "isRequired": True,
            },
            {"q": ("x", "none", "other")},
        ),
        ({"type": "boolean", "isRequired": True}, {"q": ("no", "yes")}),
        ({"type": "rating", "rateMax": 3, "isRequired": True}, {"q": ("1", "2", "3")}),
        ({"type": "rating", "rateCount": 4, "isRequired": True}, {"q": ("1", "2", "3", "4")}),
        (
            {"type": "rating", "rateMin": 0, "rateMax": 10, "rateStep": 5, "isRequired": True},
            {"q": ("0", "5", "10")},
        ),
        (
            {"type": "rating", "rateValues": ["bad", "good"], "isRequired": True},
            {"q": ("bad", "good")},
        ),
        (
            {"type": "checkbox", "choices": ["x", "y"], "isRequired": True},
            {"q_x": ("no", "yes"), "q_y": ("no", "yes")},
        ),
        (
            {
                "type": "imagepicker",
                "multiSelect": True,
                "choices": ["lion", "bear"],
                "isRequired": True,
            },
            {"q_lion": ("no", "yes"), "q_bear": ("no", "yes")},
        ),
        (
            {"type": "dropdown", "choicesMin": 1, "choicesMax": 3, "isRequired": True},
            {"q": ("1", "2", "3")},
        ),
        (
            {
                "type": "dropdown",
                "choices": ["none", 5],
                "choicesMax": 10,
                "choicesStep": 5,
                "isRequired": True,
            },
            {"q": ("none", "5", "0", "10")},
        ),
        (
            {
                "type": "matrix",
                "columns": ["agree", "not"],
                "rows": ["1", "2"],
                "isAllRowRequired": True,
            },
            {"q_1": ("agree", "not"), "q_2": ("agree", "not")},
        ),
        (
            {"type": "text", "inputType": "number", "name": "age", "isRequired": True},
            {"age": ("[0, 18)", "[18, 99]")},
        ),
        (
            {"type": "radiogroup", "choices": ["missing", "x"]},
            {"q": ("missing", "x", "not answered")},
        ),
    ],
)
def test_a_question_with_few_answers_comes_along(
    element: dict[str, Any], cells: dict[str, tuple[str, ...]]
) -> None:
    """Each kind of choice question becomes attributes with its choices as categories."""
    survey, _ = surveyjs({"name": "q"} | element)
    assert {a.name: a.cell_names for a in survey.schema.attributes} == cells


@pytest.mark.parametrize(
    ("element", "path", "reason"),
    [
        ({"type": "comment"}, HERE, "free text"),
        ({"type": "text"}, HERE, "free text"),
        ({"type": "text", "inputType": "number"}, HERE, "bins"),
        ({"type": "text", "inputType": ["number"]}, HERE, "free text"),
        ({"type": "ranking", "choices": ["x", "y"]}, HERE, "ranking"),
        ({"type": "file"}, HERE, "files"),
        ({"type": "hologram"}, HERE, "'hologram'"),
        ({"type": "radiogroup", "choices": []}, HERE, "no choices"),
        ({"type": "radiogroup", "choices": "x"}, f"{HERE}.choices", "text, not a list"),
        ({"type": "dropdown", "choices": {"a": 1}}, f"{HERE}.choices", "a table, not a list"),
        ({"type": "dropdown", "choicesMax": 3, "choicesMin": 3}, f"{HERE}.choicesMax", "range"),
        ({"type": "dropdown", "choicesMax": 10**9}, f"{HERE}.choicesMax", "at most 1000"),
        ({"type": "dropdown", "choicesMax": "9"}, f"{HERE}.choicesMax", "whole numbers"),
        ({"type": "radiogroup", "choices": ["x", "x"]}, HERE, "twice"),
        ({"type": "radiogroup"}, HERE, "no choices"),
        ({"type": "checkbox"}, HERE, "no choices"),
        ({"type": "rating", "rateStep": 0.5}, HERE, "whole numbers"),
        ({"type": "matrix", "columns": ["x", "y"]}, HERE, "no rows"),
        ({"type": "dropdown", "choicesByUrl": {"url": "u"}}, HERE, "another server"),
        ({"type": "boolean", "visibleIf": "{a} = 1"}, f"{HERE}.visibleIf", "everyone"),
        ({"type": "boolean", "title": "Does {name} smoke?"}, f"{HERE}.title", "piped"),
        (
            {"type": "radiogroup", "choices": ["x", "y"], "showOtherItem": True},
            f"{HERE}.showOtherItem",
            "free text",
        ),
        (
            {"type": "checkbox", "choices": ["x", "y"], "maxSelectedChoices": 1},
            f"{HERE}.maxSelectedChoices",
            "free of",
        ),
        (
            {"type": "radiogroup", "choices": ["x", "y", {"text": "no value"}]},
            f"{HERE}.choices[2]",
            "value",
        ),
    ],
)
def test_what_is_left_out_is_told_with_its_place_and_reason(
    element: dict[str, Any], path: str, reason: str
) -> None:
    """No part of a form disappears silently."""
    _, omitted = surveyjs({"name": "q"} | element, ANY)
    assert reason in omitted[path]


def test_names_that_are_no_identifiers_become_some_and_stay_apart() -> None:
    """A SurveyJS name may be a whole sentence; the sentence stays as the title."""
    survey, _ = surveyjs(
        ANY | {"name": "do you smoke"}, ANY | {"name": "Do you smoke?"}, ANY | {"name": "抽烟"}
    )
    assert survey.schema.names == ("do_you_smoke", "Do_you_smoke_2", "question")
    assert survey.schema["question"].label() == "抽烟"


def test_languages_pages_and_panels_come_along() -> None:
    """Locales are kept, the form's own becomes the default, panels are laid flat."""
    survey, omitted = import_surveyjs(
        {
            "locale": "de",
            "title": {"default": "Umfrage", "en": "Survey"},
            "triggers": [{"type": "complete"}],
            "pages": [
                {
                    "title": "Eins",
                    "elements": [
                        {
                            "type": "panel",
                            "name": "p",
                            "visibleIf": "{x}",
                            "elements": [
                                ANY | {"title": {"de": "Ja?", "en": "Yes?", "pt_br": "Sim?"}}
                            ],
                        }
                    ],
                },
                {"title": "Leer", "elements": [{"type": "html", "name": "h"}]},
                {"elements": [ANY | {"name": "other"}]},
            ],
        },
        privacy=PRIVACY,
        name="My form",
    )
    assert (survey.name, survey.locale, survey.locales) == ("my-form", "de", ("de", "en", "pt-br"))
    assert dict(survey.title) == {"default": "Umfrage", "en": "Survey"}
    assert dict(survey.schema["any"].labels) == {"default": "Ja?", "en": "Yes?", "pt-br": "Sim?"}
    assert [(page.heading(), len(page.elements)) for page in survey.pages] == [("Eins", 1), ("", 1)]
    assert [omission.path for omission in omitted] == [
        "triggers",
        "pages[0].elements[0].visibleIf",
        "pages[1].elements[0]",
    ]


def test_scale_ends_and_checkbox_parts_are_labelled_in_each_language() -> None:
    """Descriptions of a rating's ends and a checkbox's choices keep their translations."""
    survey, _ = surveyjs(
        {"type": "rating", "name": "mood", "maxRateDescription": {"default": "good", "de": "gut"}},
        {
            "type": "checkbox",
            "name": "drugs",
            "title": {"default": "Ever taken?", "de": "Je genommen?"},
            "choices": [{"value": "lsd", "text": "LSD"}],
        },
    )
    assert survey.schema["mood"].answers[-1].label("de") == "5 – gut"
    assert survey.schema["drugs_lsd"].label("de") == "Je genommen? – LSD"


@pytest.mark.parametrize("document", [[], {}, {"pages": []}, {"pages": 3}, {"elements": [{}]}])
def test_a_form_without_a_question_that_can_be_asked_is_an_error(document: object) -> None:
    """There is no survey without attributes."""
    with pytest.raises(SurveyFileError):
        import_surveyjs(document, privacy=PRIVACY)


CHOICES = """list_name,name,label::English (en),label::Français (fr)
yn,yes,Yes,Oui
yn,no,No,Non
freq,never,Never,Jamais
freq,often,Often,Souvent
"""


def xlsform(survey: str, choices: str = CHOICES) -> tuple[Survey, dict[str, str]]:
    """Import a form of two sheets; the omissions by path."""
    found, omitted = import_xlsform(
        {"survey": read_csv(survey), "choices": read_csv(choices)},
        privacy=PRIVACY,
        bins={"age": [0, 18, 99]},
    )
    assert Survey.parse(found.to_text()) == found
    return found, {omission.path: omission.reason for omission in omitted}


def test_an_xlsform_gives_its_selections_in_all_languages() -> None:
    """One of several comes as it is, several of several in parts; groups become pages."""
    survey, omitted = xlsform(
        "type,name,label::English (en),label::Français (fr),hint::en,required,appearance\n"
        "begin group,one,First,Premier,,,\n"
        "select_one yn,smokes,Do you smoke?,Fumez-vous ?,Anything,yes,\n"
        "select one from freq,drinks,How often?,Combien ?,,,minimal\n"
        "end group,,,,,,\n"
        "select_multiple freq,when,When?,Quand ?,,yes,\n"
        "integer,age,How old?,Quel âge ?,,true,\n"
    )
    assert survey.schema.names == ("smokes", "drinks", "when_never", "when_often", "age")
    assert survey.schema["smokes"].cell_names == ("yes", "no")
    assert survey.schema["drinks"].cell_names == ("never", "often", "missing")
    assert survey.schema["when_often"].label("fr") == "Quand ? – Souvent"
    assert survey.schema["smokes"].categories[0].label("fr") == "Oui"
    assert survey.schema["age"].cell_names == ("[0, 18)", "[18, 99]")
    assert [(page.heading("fr"), len(page.elements)) for page in survey.pages] == [
        ("Premier", 2),
        ("", 3),
    ]
    assert survey.pages[0].elements[1].widget == "dropdown"
    assert survey.pages[0].elements[0].description["default"] == "Anything"
    assert omitted == {}


@pytest.mark.parametrize(
    ("row", "path", "reason"),
    [
        ("text,x,Say", "survey row 3 (x)", "free text"),
        ("start,start,", "survey row 3 (start)", "identify people"),
        ("integer,x,How many?", "survey row 3 (x)", "bins"),
        ("select_one nope,x,Which?", "survey row 3 (x)", "no list 'nope'"),
        ("select_one yn or_other,x,Which?", "survey row 3 (x)", "free text of 'other'"),
        ("select_one_from_file a.csv,x,Which?", "survey row 3 (x)", "another file"),
        ("barcode,x,Scan", "survey row 3 (x)", "'barcode'"),
        ("select_one yn,x,Which?,,{a} = 1", "survey row 3 (x): relevant", "everyone"),
        ("select_one yn,x,Which?,a=1,", "survey row 3 (x)", "another answer"),
        ("begin repeat,r,\nselect_one yn,x,Which?\nend repeat,,", "survey row 4", "repeat"),
    ],
)
def test_rows_of_an_xlsform_that_are_left_out_are_told(row: str, path: str, reason: str) -> None:
    """The row, its name and the reason are told."""
    head = "type,name,label,choice_filter,relevant\nselect_one yn,any,Any?,,\n"
    _, omitted = xlsform(head + row + "\n")
    assert reason in omitted[path]


def test_a_language_without_a_code_is_told() -> None:
    """Labels in a language that cannot be tagged are left out, not guessed."""
    survey, omitted = xlsform(
        "type,name,label,label::Tlhingan\nselect_one yn,any,Any?,ghaH?\n",
        "list_name,name,label::German\nyn,y,Ja\nyn,n,Nein\n",
    )
    assert "code" in omitted["survey column 'label::Tlhingan'"]
    assert survey.schema["any"].categories[0].label("de") == "Ja"


@pytest.mark.parametrize("sheets", [{}, {"survey": []}, {"survey": [], "choices": []}])
def test_a_workbook_without_its_sheets_or_questions_is_no_form(
    sheets: dict[str, list[Row]],
) -> None:
    """The sheets survey and choices are needed, with something in them."""
    with pytest.raises(SurveyFileError):
        import_xlsform(sheets, privacy=PRIVACY)


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ENTITY = "<!DOCTYPE sst [<!ENTITY a 'aaaa'>]>"
LINKS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(sheet: str, shared: str = "", prolog: str = "", encoding: str = "utf-8") -> bytes:
    """Make the least .xlsx file with one sheet named ``survey``."""
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{LINKS}"><sheets>'
        '<sheet name="survey" sheetId="1" r:id="rId1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/'
        'package/2006/relationships"><Relationship Id="rId1" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{sheet}'
        "</sheetData></worksheet>",
        "xl/sharedStrings.xml": f'{prolog}<sst xmlns="{MAIN}">{shared}</sst>',
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, text in parts.items():
            archive.writestr(path, text.encode(encoding))
    return content.getvalue()


def test_a_workbook_gives_the_text_of_its_cells() -> None:
    """Shared, inline, rich and numeric cells are read; gaps between columns stay gaps."""
    shared = (
        "<si><t>type</t></si><si><r><t>na</t></r><r><t>me</t></r><rPh><t>x</t></rPh></si>"
        f"<si><t>{escape('a & b')}</t></si>"
    )
    sheet = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>'
        '<row r="2"/>'
        '<row r="4"><c r="A4" t="inlineStr"><is><t>select_one yn</t></is></c>'
        '<c r="B4"><v>9</v></c><c r="C4" t="s"><v>2</v></c><c r="D4" t="b"><v>1</v></c></row>'
    )
    assert read_workbook(workbook(sheet, shared)) == {
        "survey": [Row(4, {"type": "select_one yn", "name": "a & b"})]
    }


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"type,name",
        workbook('<row r="1"><c r="A1" t="s"><v>7</v></c></row>'),
        workbook("<row"),
        workbook("", "<si><t>&a;</t></si>", ENTITY),
        workbook("", "<si><t>&a;</t></si>", ENTITY, "utf-16"),
        workbook("<!--" + " " * 70_000_000 + "-->"),
    ],
    ids=["empty", "not a zip", "dangling text", "broken XML", "entities", "UTF-16", "bomb"],
)
def test_a_workbook_that_is_none_or_a_bomb_is_refused(content: bytes) -> None:
    """Broken archives, entities and sheets that unpack without bound are one clear error."""
    with pytest.raises(SurveyFileError, match="workbook"):
        read_workbook(content)


def damaged(content: bytes, *, change: int) -> bytes:
    """Change one byte of an archive."""
    place, bit = divmod(change, 8)
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_a_damaged_workbook_is_refused_whatever_bit_it_is() -> None:
    """Archives fail in many ways (cut short, locked, packed by what is not known); all are one."""
    whole = workbook('<row r="1"><c r="A1" t="inlineStr"><is><t>type</t></is></c></row>')
    refused = 0
    for change in range(0, 8 * len(whole), 3):
        try:
            read_workbook(damaged(whole, change=change))
        except SurveyFileError:
            refused += 1
    assert refused > len(whole) / 2


def test_broken_csv_is_refused() -> None:
    """A quotation that never ends is an error, not a very long cell."""
    with pytest.raises(SurveyFileError, match="comma-separated"):
        read_csv('a,b\n"x')
