"""Notation: text in TOML or JSON to plain values, and plain values back to text."""

from __future__ import annotations

import json
import math
import tomllib
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias, cast

from deniable.errors import SurveyFileError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Format: TypeAlias = Literal["toml", "json"]

_WIDE = 96


def parse_text(text: str, notation: Format | None, source: str) -> object:
    """Parse ``text``; without a notation, text that begins with a brace is JSON.

    Raises:
        SurveyFileError: The text breaks the rules of its notation; the error tells line and column.
    """
    text = text.removeprefix("\ufeff")
    if notation is None:
        notation = "json" if text.lstrip().startswith("{") else "toml"
    try:
        if notation == "json":
            return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
        return tomllib.loads(text.replace("\r\n", "\n"))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        problem = f"{source} is not JSON: {error.msg} at {place}"
    except tomllib.TOMLDecodeError as error:
        last = f"line {text.count(chr(10)) + 1}, the last"
        problem = f"{source} is not TOML: {str(error).replace('end of document', last)}"
    except RecursionError:
        problem = f"{source} is nested too deeply"
    except ValueError as error:  # a number with thousands of digits, above all
        problem = f"{source} cannot be read as {notation.upper()}: {error}"
    raise SurveyFileError(problem)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            beside = ", ".join(repr(other) for other in table if other != key)
            where = f"beside {beside}" if beside else "in one object"
            raise SurveyFileError(f"the key {key!r} occurs twice {where}")
        table[key] = value
    return table


def _no_constant(name: str) -> NoReturn:
    raise SurveyFileError(f"{name} is not a number in JSON", expected="a finite number")


def to_json(document: Mapping[str, object]) -> str:
    """Write a document as JSON for people: indented, every script as it is."""
    return json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def to_toml(document: Mapping[str, object]) -> str:
    """Write a survey document as TOML: pages, elements and privacy under headings, all else inline.

    >>> print(to_toml({"name": "x", "privacy": {"epsilon": 1}}), end="")
    name = "x"
    <BLANKLINE>
    [privacy]
    epsilon = 1
    """
    lines: list[str] = []
    _write_table(document, "", lines)
    return "\n".join(lines).lstrip("\n") + "\n"


def _write_table(table: Mapping[str, object], path: str, lines: list[str]) -> None:
    later: list[tuple[str, object]] = []
    for key, value in table.items():
        if _is_section(key, value):
            later.append((key, value))
        else:
            lines.append(_entry(key, value))
    for key, value in later:
        inner = f"{path}.{key}" if path else key
        heading = f"[[{inner}]]" if isinstance(value, list) else f"[{inner}]"
        for section in value if isinstance(value, list) else [value]:
            lines += ["", heading]
            _write_table(cast("Mapping[str, object]", section), inner, lines)


def _is_section(key: str, value: object) -> bool:
    """Tell the parts of a survey file that are written under headings of their own."""
    return key in {"pages", "elements", "privacy"} and isinstance(value, dict | list)


def _entry(key: str, value: object) -> str:
    line = f"{_key(key)} = {_inline(value)}"
    if isinstance(value, list) and len(line) > _WIDE:
        return f"{_key(key)} = [\n" + "".join(f"  {_inline(item)},\n" for item in value) + "]"
    return line


def _inline(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value) if math.isfinite(value) else str(value)
        case str():
            return _quoted(value)
        case list() | tuple():
            return _inline_list(value)
        case dict():
            inside = ", ".join(f"{_key(key)} = {_inline(item)}" for key, item in value.items())
            return f"{{ {inside} }}" if inside else "{}"
        case _:
            raise SurveyFileError(f"TOML cannot hold a {type(value).__name__}")


def _inline_list(values: Sequence[object]) -> str:
    return "[" + ", ".join(map(_inline, values)) + "]"


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else _quoted(key)


def _quoted(text: str) -> str:
    # JSON's escapes are TOML's, except that TOML also wants DEL escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
