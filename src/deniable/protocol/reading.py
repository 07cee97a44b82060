"""Designs and blocks from their wire form. Anything unknown or missing is an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deniable.channels import channel_from_dict
from deniable.errors import DesignError, DigestError, nearest
from deniable.protocol.block import Block
from deniable.protocol.canonical import digest, is_count, read_json
from deniable.protocol.design import VERSION, Design, Group, Rule, View, check_channels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from deniable.protocol.design import Channels

_DESIGN = (
    "deniable survey schema protocol attributes views channels rule epsilon repeats".split()  # noqa: SIM905
)
_BLOCK = ["deniable", "design", "block", "channels"]


def design_from_bytes(data: bytes | str, expected: str | None = None) -> Design:
    """Read a design; ``expected`` is the digest it must have."""
    design = design_from_dict(read_json(data, "a design", DesignError))
    _check_published("the design", data, design.digest, expected)
    return design


def design_from_dict(data: object) -> Design:
    """Read a design from plain data."""
    found = _object(data, "a design", _DESIGN)
    attributes = tuple(_attribute(pair) for pair in _list(found["attributes"], "attributes"))
    sizes = [size for _, size in attributes]
    views = tuple(_view(view, sizes) for view in _list(found["views"], "views"))
    rule = _object(found["rule"], "a rule", ["name", "block_size", "floor"])
    for key in ("survey", "schema", "protocol", "epsilon"):
        _text(found[key], key)
    return Design(
        survey=found["survey"],
        schema=found["schema"],
        attributes=attributes,
        views=views,
        channels=_channels(found["channels"]),
        epsilon=found["epsilon"],
        protocol=found["protocol"],
        rule=Rule(
            _text(rule["name"], "a rule's name"),
            _count(rule["block_size"], "a rule's block_size"),
            _text(rule["floor"], "a rule's floor"),
        ),
        repeats=_count(found["repeats"], "repeats", least=1),
    )


def block_from_bytes(data: bytes | str, design: Design, expected: str | None = None) -> Block:
    """Read a block of ``design``; ``expected`` is the digest it must have."""
    block = block_from_dict(read_json(data, "a block", DesignError), design)
    _check_published("the block", data, block.digest, expected)
    return block


def block_from_dict(data: object, design: Design) -> Block:
    """Read a block of ``design`` from plain data."""
    found = _object(data, "a block", _BLOCK)
    if found["design"] != design.digest:
        problem = "the block belongs to another design"
        raise DigestError(problem, given=found["design"], expected=design.digest)
    number = _count(found["block"], "a block's number")
    channels = _channels(found["channels"])
    check_channels(channels, design)
    if channels == design.channels:
        channels = design.channels  # one record, whose cost is known
    elif design.rule.name == "fixed":
        problem = "the channels of a fixed design never change"
        raise DesignError(problem, expected="the channels that stand in the design")
    return Block(design.digest, number, channels)


def _check_published(what: str, data: bytes | str, found: str, expected: str | None) -> None:
    if expected is not None and found != expected:
        problem = f"{what} is not the one that was published"
        raise DigestError(problem, given=found, expected=expected)
    if isinstance(data, bytes) and digest(data) != found:
        problem = f"{what} is not in canonical form"
        raise DesignError(problem, expected="keys in order, no white space")


def _object(data: object, what: str, keys: Iterable[str]) -> dict[str, Any]:
    keys = list(keys)
    if not isinstance(data, dict):
        problem = f"{what} must be an object"
        raise DesignError(problem, given=type(data).__name__, expected=", ".join(keys))
    for key in data:
        if key not in keys:
            problem = f"unknown key {key!r} in {what}"
            raise DesignError(problem, expected=nearest(key, keys))
    missing = [key for key in keys if key not in data]
    if missing:
        problem = f"{what} lacks {missing[0]!r}"
        raise DesignError(problem, expected=", ".join(keys))
    version = data.get("deniable", VERSION)
    if not is_count(version) or version != VERSION:
        problem = f"{what} of another version"
        raise DesignError(problem, given=version, expected=str(VERSION))
    return data


def _list(data: object, what: str) -> list[Any]:
    if not isinstance(data, list):
        problem = f"{what} must be a list"
        raise DesignError(problem, given=type(data).__name__)
    return data


def _text(data: object, what: str) -> str:
    if not isinstance(data, str) or not data:
        problem = f"{what} must be text"
        raise DesignError(problem, given=data)
    return data


def _count(data: object, what: str, least: int = 0) -> int:
    if not is_count(data) or data < least:  # type: ignore[operator]
        problem = f"{what} must be an integer of at least {least}"
        raise DesignError(problem, given=data)
    return data  # type: ignore[return-value]


def _attribute(pair: object) -> tuple[str, int]:
    match pair:
        case [str() as name, int() as size] if name and not isinstance(size, bool) and size > 1:
            return name, size
    problem = "an attribute must be a name and a number of cells"
    raise DesignError(problem, given=pair, expected='such as ["sex", 2]')


def _view(data: object, sizes: list[int]) -> View:
    found = _object(data, "a view", ["weight", "groups"])
    groups = []
    for positions in _list(found["groups"], "groups"):
        for position in _list(positions, "a group"):
            if _count(position, "a group's attribute") >= len(sizes):
                problem = "a group names an attribute that does not exist"
                raise DesignError(problem, given=position, expected=f"0 to {len(sizes) - 1}")
        groups.append(Group(tuple(positions), tuple(sizes[p] for p in positions)))
    return View(tuple(groups), _count(found["weight"], "a view's weight", least=1))


def _channels(data: object) -> Channels:
    rows = _list(data, "channels")
    return tuple(tuple(channel_from_dict(one) for one in _list(row, "channels")) for row in rows)
