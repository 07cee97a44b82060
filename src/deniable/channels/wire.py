"""A channel as plain data and back. A channel's wire form is its kind and its fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from deniable.channels.k_ary import KAry
from deniable.channels.local_hash import LocalHash
from deniable.channels.matrix import Matrix
from deniable.channels.subset import SubsetSelection
from deniable.channels.two_coin import TwoCoin
from deniable.channels.unary import Unary
from deniable.errors import ChannelError, nearest

if TYPE_CHECKING:
    from deniable.channels.contract import Channel

KINDS: dict[str, type[Any]] = {
    kind.kind: kind for kind in (TwoCoin, KAry, SubsetSelection, Matrix, Unary, LocalHash)
}
"""Every channel that may cross the wire, by kind."""


def _names(kind: type[Any]) -> list[str]:
    return [one.name for one in fields(kind) if one.init]


def channel_to_dict(channel: Channel) -> dict[str, object]:
    """Return the wire form of a channel.

    >>> from deniable.channels import KAry
    >>> channel_to_dict(KAry(2**31, 4))
    {'kind': 'k-ary', 'head': 2147483648, 'size': 4}
    """
    values = {name: _listed(getattr(channel, name)) for name in _names(type(channel))}
    return {"kind": channel.kind, **values}


def channel_from_dict(data: object) -> Channel:
    """Read the wire form of a channel; anything unknown or missing is an error."""
    if not isinstance(data, Mapping):
        problem = "a channel must be an object"
        raise ChannelError(problem, given=type(data).__name__, expected="kind and fields")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        problem = "unknown kind of channel"
        raise ChannelError(problem, given=kind, expected=nearest(str(kind), KINDS))
    names = _names(KINDS[kind])
    for key in data:
        if key not in names and key != "kind":
            problem = f"unknown field {key!r} in a {kind} channel"
            raise ChannelError(problem, expected=nearest(str(key), names))
    missing = [name for name in names if name not in data]
    if missing:
        problem = f"a {kind} channel lacks {missing[0]!r}"
        raise ChannelError(problem, expected=", ".join(names))
    for name in ("fake", "rows"):
        if name in names and not isinstance(data[name], list):
            problem = f"{name!r} in a {kind} channel must be a list of integers"
            raise ChannelError(problem, given=type(data[name]).__name__)
    channel: Channel = KINDS[kind](**{name: _tupled(data[name]) for name in names})
    return channel


def _listed(value: object) -> object:
    return [_listed(one) for one in value] if isinstance(value, tuple) else value


def _tupled(value: object) -> object:
    return tuple(_tupled(one) for one in value) if isinstance(value, list) else value
