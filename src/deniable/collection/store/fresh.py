"""Fresh reports: what came last on SQLite, in bundles that are cheap to write.

Ids are random, so that in a large table every report dirties a page of its own, and a
page is a hundred times as much to write as a report. Reports are therefore kept as they
came together, and laid into the large table later, where neighbours share pages:

- a *bundle* is a row of the table ``fresh``: the ids of reports that came together and
  say the same;
- when many reports lie in loose bundles, they are sorted into parts by the first letter
  of their ids;
- when many are fresh, the largest part is laid into the table ``report``.

Everything happens in the transaction that needs it: after a crash each report is in one
place. Bundles have random keys and last no longer than until the store is tidied.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import msgspec

from deniable.channels.coin import fresh_id
from deniable.collection.store.contract import ReportRow
from deniable.protocol import encode_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LOOSE: Final = ""
MOST_LOOSE: Final = 16_384
"""So many reports of a survey may lie in loose bundles before they are sorted into parts."""
MOST_FRESH: Final = 200_000
"""So many may be fresh before the largest part is laid into the large table."""

_READ = msgspec.json.Decoder(list[str])

Said: TypeAlias = tuple[int, int, str, bool]
"""What a report says: its block, view and values, and whether it was late."""


class Bundle(NamedTuple):
    """Some reports that say the same; ``ids`` is a JSON list."""

    survey: int
    part: str
    key: str
    block: int
    view: int
    values: str
    late: bool
    ids: str


class Fresh:
    """What is known of the fresh reports without asking the database.

    Attributes:
        mark: The random name of the state that this is; the database keeps the same one
            beside the bundles, so that whoever remembers another state reads anew.
    """

    def __init__(self) -> None:
        """Know nothing; no database has an empty mark."""
        self.mark = ""
        self._said: dict[int, dict[str, Said]] = {}
        self._parts: dict[tuple[int, str], list[str]] = {}

    def read(self, mark: str, bundles: Iterable[Bundle]) -> None:
        """Know what the database holds."""
        self.forget()
        for bundle in bundles:
            said = (bundle.block, bundle.view, bundle.values, bool(bundle.late))
            ids = _READ.decode(bundle.ids)
            self._said.setdefault(bundle.survey, {}).update(dict.fromkeys(ids, said))
            self._parts.setdefault((bundle.survey, bundle.part), []).extend(ids)
        self.mark = mark

    def renew(self) -> str:
        """Take another mark, because something changed."""
        self.mark = encode_bytes(fresh_id())
        return self.mark

    def forget(self) -> None:
        """Know nothing, as after a transaction that failed."""
        self.mark, self._said, self._parts = "", {}, {}

    def remove(self, survey: int) -> None:
        """Forget a survey's reports."""
        self._said.pop(survey, None)
        for part in [part for part in self._parts if part[0] == survey]:
            del self._parts[part]

    def find(self, survey: int, ids: Iterable[str]) -> Iterator[ReportRow]:
        """Yield those of the reports that are fresh."""
        said = self._said.get(survey, {})
        return (ReportRow(name, *said[name]) for name in said.keys() & ids)

    def add(self, survey: int, rows: Iterable[ReportRow]) -> list[Bundle]:
        """Know new reports; return their bundles."""
        said: dict[str, Said] = {row[0]: row[1:] for row in rows}
        self._said.setdefault(survey, {}).update(said)
        self._parts.setdefault((survey, LOOSE), []).extend(said)
        return _bundles(survey, LOOSE, said)

    def sort(self, survey: int) -> list[Bundle]:
        """Sort a survey's loose reports into parts if they are many; return the new bundles."""
        if len(self._parts.get((survey, LOOSE), ())) <= MOST_LOOSE:
            return []
        said = self._said[survey]
        loose = sorted(self._parts.pop((survey, LOOSE)))
        bundles: list[Bundle] = []
        for part, names in groupby(loose, lambda name: name[0]):
            ids = list(names)
            self._parts.setdefault((survey, part), []).extend(ids)
            bundles += _bundles(survey, part, {name: said[name] for name in ids})
        return bundles

    def release(self) -> tuple[int, str] | None:
        """Let go of the largest part if too many reports are fresh; return survey and part."""
        if sum(map(len, self._said.values())) <= MOST_FRESH:
            return None
        return self._let_go(max(self._parts, key=self._worth))

    def release_any(self) -> tuple[int, str] | None:
        """Let go of a part or of loose reports, if any are fresh; return survey and part."""
        return self._let_go(next(iter(self._parts))) if self._parts else None

    def _worth(self, part: tuple[int, str]) -> tuple[bool, int]:
        """Loose reports lie anywhere in the large table; parts save more, the larger the more."""
        return part[1] != LOOSE, len(self._parts[part])

    def _let_go(self, part: tuple[int, str]) -> tuple[int, str]:
        said = self._said[part[0]]
        for name in self._parts.pop(part):
            del said[name]
        return part


def _bundles(survey: int, part: str, said: dict[str, Said]) -> list[Bundle]:
    """Return reports by what they say: nothing in a bundle tells in what order they came."""
    ids: dict[Said, list[str]] = {}
    for name in sorted(said):
        ids.setdefault(said[name], []).append(name)
    key = encode_bytes(fresh_id())
    return [
        Bundle(survey, part, f"{key}{place}", *saying, msgspec.json.encode(names).decode())
        for place, (saying, names) in enumerate(sorted(ids.items()))
    ]
