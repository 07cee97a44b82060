"""Staff tokens and invitations: drawn by the one coin, kept as hashes."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from deniable.channels.coin import fresh_id, fresh_key
from deniable.collection.store import TokenRow
from deniable.errors import ScopeError, TokenError
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from deniable.collection.store import Store

Scope: TypeAlias = Literal["manage", "research", "merge"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
DAY: Final = 86_400
LONGEST_LIFE: Final = 366 * DAY

# What each scope allows besides itself.
_INCLUDES: Final[dict[str, frozenset[str]]] = {
    "manage": frozenset(SCOPES),
    "research": frozenset({"research"}),
    "merge": frozenset({"merge"}),
}


def hash_of(secret: str) -> str:
    """Return what is kept of a token or code: both are too random to be guessed from it."""
    return encode_bytes(hashlib.sha256(secret.encode()).digest())


def issue_token(
    store: Store, scope: Scope, *, survey: str = "", now: int, seconds: int = 30 * DAY
) -> str:
    """Return a new token, which is shown once and kept nowhere.

    Args:
        store: Keeps its hash.
        scope: ``manage`` surveys, read one for ``research``, or ``merge`` tallies into it.
        survey: The one survey it is good for; empty for all.
        now: Seconds since 1970.
        seconds: After how long it expires.
    """
    if scope not in SCOPES:
        raise ScopeError("there is no such scope", given=scope, expected=" or ".join(SCOPES))
    if not 0 < seconds <= LONGEST_LIFE:
        raise ScopeError("a token must expire within a year", given=seconds)
    token = encode_bytes(fresh_key())
    with store.writing() as writing:
        writing.remove_expired_tokens(now)
        writing.add_token(TokenRow(hash_of(token), scope, survey, now + seconds))
    return token


def check_token(
    store: Store, token: str | None, scope: Scope, survey: str | None, *, now: int
) -> None:
    """Refuse a request whose token is unknown, expired, or for something else.

    ``survey`` is ``None`` for what concerns all surveys.
    """
    if not token:
        raise TokenError("this needs a token", expected="the header Authorization: Bearer …")
    with store.reading() as reading:
        row = reading.token(hash_of(token))
    if row is None or row.expires <= now:
        raise TokenError("the token is unknown or has expired", expected="a token that is good")
    if scope not in _INCLUDES[row.scope] or row.survey not in {"", survey}:
        raise ScopeError("the token does not allow this", expected=f"a token to {scope}")


def new_invitation() -> str:
    """Return an invitation code of 16 letters and digits that are hard to confuse."""
    return base64.b32encode(fresh_id()[:10]).decode().lower()
