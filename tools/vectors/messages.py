"""Canonical JSON, and designs and blocks that must be refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.channels import Matrix, TwoCoin, best, channel_to_dict, k_ary
from deniable.channels.coin import WORD
from deniable.protocol import (
    Design,
    block_from_bytes,
    canonical,
    design_from_bytes,
    digest,
    encode_bytes,
    first_block,
    next_block,
)
from tools.vectors.samples import (
    ADAPTIVE,
    ASK_ONE,
    HALF,
    KINDS,
    REPEATED,
    changed,
    outcome,
    single,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tools.vectors import Case, Cases

    Change = Callable[[dict[str, Any]], object]

OTHER_DIGEST = encode_bytes(bytes(32))


def canonical_forms() -> Cases:
    """Return plain data with its canonical text and digest."""
    data: list[tuple[str, object]] = [
        ("an empty object", {}),
        ("an empty list", []),
        ("keys ascend at every depth", {"b": {"z": 1, "a": 2}, "a": [], "B": 0}),
        ("a key that begins another comes first", {"ab": 1, "a": 2}),
        ("numbers keep their sign and every digit", [0, -1, 10, 2**32, 2**53 - 1, 1 - 2**53]),
        ("null, true and false", [None, True, False]),
        ("letters beyond ASCII are not escaped", {"name": "Größe, возраст, 年齢"}),
        ("characters beyond 16 bits are not escaped", "\U0001f0a1 \U0001d518"),
        ("quotation marks and reverse solidus are", 'a "quoted" \\ word'),
        ("a solidus is not", "a/b"),
        ("controls with a short escape have it", "\b\t\n\f\r"),
        ("other controls have six characters in lower case", "\x00\x01\x0b\x1f"),
        ("delete and the line separators are written as they are", "\x7f\x80\u2028\u2029\ufeff"),
        ("composed and decomposed letters stay different", ["\u00e9", "e\u0301"]),
    ]
    cases = [
        {
            "comment": comment,
            "data": found,
            "canonical": canonical(found).decode(),
            "digest": digest(canonical(found)),
        }
        for comment, found in data
    ]
    return "plain data, its canonical bytes (as text) and their digest", cases


def designs() -> Cases:
    """Return designs as published, good and bad."""
    good = [ASK_ONE, ADAPTIVE, REPEATED, *KINDS.values()]
    cases = [_design(f"good: {d.survey}", d.to_bytes().decode(), None) for d in good]
    plain = ASK_ONE.to_dict()
    text = ASK_ONE.to_bytes().decode()
    cases += [_design(comment, changed(plain, change), code) for comment, change, code in _BAD]
    cases += [
        _design("truncated", text[:-1], "invalid-design"),
        _design("nothing", "", "invalid-design"),
        _design("not JSON", "deniable", "invalid-design"),
        _design("two documents", text + text, "invalid-design"),
        _design("white space after a comma", text.replace(",", ", ", 1), "invalid-design"),
        _design("a line at the end", text + "\n", "invalid-design"),
        _design("a byte-order mark", "\ufeff" + text, "invalid-design"),
        _design("keys out of order", _reversed(text), "invalid-design"),
        _design("a key given twice", text.replace("{", '{"repeats":1,', 1), "invalid-design"),
        _design("a number written as 1.0", text.replace('"repeats":1', '"repeats":1.0'),
                "invalid-design"),
        _design("a number written as 1e0", text.replace('"repeats":1', '"repeats":1e0'),
                "invalid-design"),
        _design("a number that is none", text.replace('"repeats":1', '"repeats":NaN'),
                "invalid-design"),
        _design("an escape that is not needed", text.replace('"example"', '"ex\\u0061mple"'),
                "invalid-design"),
        _design("half of a character", text.replace('"example"', '"\\ud800"'), "invalid-design"),
        _design("another than was published", text, "wrong-digest", expected=OTHER_DIGEST),
    ]  # fmt: skip
    return "published bytes of a design: its digest, or the code of the error", cases


def _reversed(text: str) -> str:
    """Move the first key to the end."""
    first, _, rest = text[1:-1].partition(',"channels"')
    return '{"channels"' + rest + "," + first + "}"


def _set(*path: str | int, to: object) -> Change:
    def change(data: dict[Any, Any]) -> None:
        for step in path[:-1]:
            data = data[step]
        data[path[-1]] = to

    return change


_DEAR = channel_to_dict(k_ary(1.01, 6))
_BAD: list[tuple[str, Change, str]] = [
    ("an unknown key", _set("secret", to=1), "invalid-design"),
    ("a missing key", lambda d: d.pop("rule"), "invalid-design"),
    ("another version", _set("deniable", to=2), "invalid-design"),
    ("a version that is true", _set("deniable", to=True), "invalid-design"),
    ("no name", _set("survey", to=""), "invalid-design"),
    ("a name that is a number", _set("survey", to=1), "invalid-design"),
    ("no attributes", _set("attributes", to=[]), "invalid-design"),
    ("two attributes of one name", _set("attributes", 1, 0, to="a0"), "invalid-design"),
    ("an attribute of one cell", _set("attributes", 0, 1, to=1), "invalid-design"),
    ("an attribute with more than name and size", _set("attributes", 0, to=["a0", 2, 3]),
     "invalid-design"),
    ("an attribute whose size is text", _set("attributes", 0, 1, to="2"), "invalid-design"),
    ("no views", lambda d: d.update(views=[], channels=[]), "invalid-design"),
    ("a view that asks nothing", lambda d: d.update(views=[{"weight": 1, "groups": []}],
                                                    channels=[[]]), "invalid-design"),
    ("an empty group", _set("views", 0, "groups", 0, to=[]), "invalid-design"),
    ("a group of an attribute that does not exist", _set("views", 0, "groups", 0, to=[0, 3]),
     "invalid-design"),
    ("a group that names an attribute twice",
     lambda d: (_set("views", 0, "groups", 0, to=[0, 0])(d),
                _set("channels", 0, 0, to=channel_to_dict(k_ary(0.5, 4)))(d)), "invalid-design"),
    ("groups of a view that overlap",
     lambda d: (d["views"][0]["groups"].append([1]), d.update(epsilon="9"),
                d["channels"][0].append(channel_to_dict(k_ary(0.1, 3)))), "invalid-design"),
    ("a weight of 0", _set("views", 0, "weight", to=0), "invalid-design"),
    ("a weight that is true", _set("views", 0, "weight", to=True), "invalid-design"),
    ("a weight beyond exact numbers", _set("views", 0, "weight", to=2**53), "invalid-design"),
    ("weights whose sum is beyond exact numbers", _set("views", 0, "weight", to=2**53 - 1),
     "invalid-design"),
    ("fewer channels than views", lambda d: d["channels"].pop(), "invalid-design"),
    ("more channels than groups", lambda d: d["channels"][0].append(d["channels"][0][0]),
     "invalid-design"),
    ("a channel over other cells than its group", _set("channels", 0, 0, "size", to=7),
     "invalid-design"),
    ("a channel that is none", _set("channels", 0, 0, "head", to=0), "invalid-channel"),
    ("a channel that costs more than is promised", _set("channels", 0, 0, to=_DEAR),
     "invalid-design"),
    ("a fake distribution with an empty cell",
     _set("channels", 0, 0, to={"kind": "two-coin", "head": 1, "fake": [0, WORD, 0, 0, 0, 0]}),
     "invalid-channel"),
    ("an unknown rule", _set("rule", "name", to="adaptive"), "invalid-design"),
    ("a rule with another key", _set("rule", "n", to=1), "invalid-design"),
    ("a block of fewer than no reports", _set("rule", "block_size", to=-1), "invalid-design"),
    ("a floor above 1", _set("rule", "floor", to="1.5"), "invalid-design"),
    ("a floor that is a number", _set("rule", "floor", to=0), "invalid-design"),
    ("epsilon 0", _set("epsilon", to="0"), "invalid-design"),
    ("epsilon 0.00", _set("epsilon", to="0.00"), "invalid-design"),
    ("epsilon below 0", _set("epsilon", to="-1"), "invalid-design"),
    ("epsilon that is a number", _set("epsilon", to=1), "invalid-design"),
    ("epsilon with an exponent", _set("epsilon", to="1e0"), "invalid-design"),
    ("epsilon without a digit before its point", _set("epsilon", to=".5"), "invalid-design"),
    ("epsilon infinite by name", _set("epsilon", to="Infinity"), "invalid-design"),
    ("epsilon infinite by its digits", _set("epsilon", to="9" * 400), "invalid-design"),
    ("epsilon in the digits of another script", _set("epsilon", to="\u0661"), "invalid-design"),
    ("no answers allowed", _set("repeats", to=0), "invalid-design"),
]  # fmt: skip


def _design(comment: str, text: str, error: str | None, expected: str | None = None) -> Case:
    found = outcome(comment, error, lambda: design_from_bytes(text.encode(), expected).digest)
    return {
        "comment": comment,
        "design": text,
        "published": expected,
        "digest": found,
        "error": error,
    }


def blocks() -> Cases:
    """Return blocks as published, good and bad."""
    start = first_block(ADAPTIVE)
    other = next_block(
        ADAPTIVE,
        start,
        ((TwoCoin(2**28, (HALF, *(HALF // 5,) * 4, WORD - HALF - 4 * (HALF // 5))),),),
    )
    dear = next_block(ADAPTIVE, start, ((TwoCoin(WORD - 1, start.channels[0][0].fake),),))  # type: ignore[attr-defined]
    plain = start.to_dict()
    text = start.to_bytes().decode()
    fixed = first_block(ASK_ONE)
    cases = [
        _block("the first block", ADAPTIVE, text, None),
        _block("a later block with other channels", ADAPTIVE, other.to_bytes().decode(), None),
        _block("a block dearer than its design: it can be read, and the device refuses it",
               ADAPTIVE, dear.to_bytes().decode(), None),
        _block("a later block of a fixed design", ASK_ONE,
               changed(fixed.to_dict(), _set("block", to=7)), None),
        _block("a fixed design whose channels changed", ASK_ONE,
               changed(fixed.to_dict(), _set("channels", 0, 0, to=channel_to_dict(best(0.9, 6)))),
               "invalid-design"),
        _block("another design's", ASK_ONE, text, "wrong-digest"),
        _block("another than was published", ADAPTIVE, text, "wrong-digest",
               expected=OTHER_DIGEST),
        _block("a number below 0", ADAPTIVE, changed(plain, _set("block", to=-1)),
               "invalid-design"),
        _block("a number that is true", ADAPTIVE, changed(plain, _set("block", to=True)),
               "invalid-design"),
        _block("an unknown key", ADAPTIVE, changed(plain, _set("epsilon", to="1")),
               "invalid-design"),
        _block("a missing key", ADAPTIVE, changed(plain, lambda d: d.pop("block")),
               "invalid-design"),
        _block("another version", ADAPTIVE, changed(plain, _set("deniable", to=0)),
               "invalid-design"),
        _block("a channel too few", ADAPTIVE, changed(plain, _set("channels", to=[[]])),
               "invalid-design"),
        _block("a channel over other cells", ADAPTIVE,
               changed(plain, _set("channels", 0, 0, to=channel_to_dict(k_ary(0.1, 7)))),
               "invalid-design"),
        _block("a channel that proves an answer", ADAPTIVE,
               changed(plain, _set("channels", 0, 0, "fake", to=[WORD, 0, 0, 0, 0, 0])),
               "invalid-channel"),
        _block("truncated", ADAPTIVE, text[:40], "invalid-design"),
        _block("white space", ADAPTIVE, text.replace(":", ": ", 1), "invalid-design"),
        _block("a key given twice", ADAPTIVE, text.replace("{", '{"block":0,', 1),
               "invalid-design"),
        _block("a matrix that proves an answer can be read, and the device refuses it",
               _free(), changed(first_block(_free()).to_dict(),
               _set("channels", 0, 0, to=channel_to_dict(Matrix(((WORD, 0), (0, WORD)))))), None),
    ]  # fmt: skip
    return "published bytes of a block of a design: its digest, or the code of the error", cases


def _free() -> Design:
    """Return a design whose channels may become anything."""
    plain = single("two-stage", k_ary(1.0, 2)).to_dict()
    plain["rule"] = {"name": "two-stage", "block_size": 100, "floor": "0"}
    return design_from_bytes(canonical(plain))


def _block(
    comment: str, design: Design, text: str, error: str | None, expected: str | None = None
) -> Case:
    data = text.encode()
    found = outcome(comment, error, lambda: block_from_bytes(data, design, expected).digest)
    return {
        "comment": comment,
        "design": design.to_bytes().decode(),
        "block": text,
        "published": expected,
        "digest": found,
        "error": error,
    }
