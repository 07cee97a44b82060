"""An aggregator elsewhere, and how a device or another aggregator reaches its desk."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from deniable.errors import SharingError
from deniable.sharing.address import PATIENCE_SECONDS, address_from, reason_of
from deniable.sharing.desk import HTTP_CONFLICT, HTTP_DONE, KIND_HEADER, divided
from deniable.sharing.kind import kind_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from deniable.sharing.kind import Kind
    from deniable.sharing.shares import Vector


class RemoteAggregator:
    """An aggregator at a desk elsewhere."""

    def __init__(self, address: str, patience: float = PATIENCE_SECONDS) -> None:
        """Remember where it is.

        Args:
            address: Such as ``http://127.0.0.1:9001``, or ``https://sums.example/first``
                where TLS and other pages stand in front of it.
            patience: Seconds to wait for an answer.
        """
        self.address = address_from(address)
        self._patience = patience

    def accept(self, identity: bytes, share: Vector, kind: Kind) -> None:
        """Send a respondent's share; the same again does no harm."""
        path, body = f"/shares/{identity.hex()}", share.astype("<u4").tobytes()
        self._ask("PUT", path, body, {KIND_HEADER: kind.text})

    @property
    def kind(self) -> Kind | None:
        """Return of what kind its shares are, once it is known."""
        found = self._ask("GET", "/kind", b"")
        return kind_from(found.decode(errors="replace")) if found else None

    @property
    def identities(self) -> frozenset[bytes]:
        """Return whose shares have come."""
        return frozenset(divided(self._ask("GET", "/identities", b"")))

    def total(self, agreed: Iterable[bytes]) -> Vector:
        """Return the sum of the shares of those whom all agreed on."""
        found = self._ask("POST", "/total", b"".join(sorted(agreed)))
        if len(found) % 4:
            problem = "what an aggregator showed is no total"
            raise SharingError(problem, given=len(found), expected="words of four bytes")
        return np.frombuffer(found, "<u4").astype(np.uint32)

    def _ask(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> bytes:
        try:
            status, found = self.address.ask(
                method, path, body, headers=headers, patience=self._patience
            )
        except OSError as error:
            problem = f"an aggregator cannot be reached: {reason_of(error)}"
            expected = "every aggregator at its place; a share may be sent again"
            raise SharingError(problem, given=str(self.address), expected=expected) from error
        if status == HTTP_CONFLICT:
            raise _refusal(found)
        if status != HTTP_DONE:
            problem = f"{self.address} does not answer as an aggregator does"
            raise SharingError(problem, given=status, expected=f"{HTTP_DONE} or {HTTP_CONFLICT}")
        return found


def _refusal(body: bytes) -> SharingError:
    """Return the aggregator's own sentence, not one about another."""
    try:
        parts = json.loads(body)
        problem, given, expected = (parts[key] for key in ("problem", "given", "expected"))
    except (ValueError, KeyError, TypeError):
        problem, given, expected = "an aggregator refused", None, None
    return SharingError(str(problem), given=given, expected=expected and str(expected))
