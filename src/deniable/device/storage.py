"""Where a device remembers. It never holds an answer, only what was already randomized."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from deniable.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager


try:
    import fcntl
except ImportError:  # not a POSIX system: programs that share a file there may both answer
    fcntl = None  # type: ignore[assignment]


class Storage(Protocol):
    """One document. Every method may raise ``StorageError`` or ``OSError``."""

    def alone(self) -> AbstractContextManager[None]:
        """Keep every other device on this storage out while the context lasts."""

    def read(self) -> bytes | None:
        """Return the document, or ``None`` if there is none yet."""

    def write(self, document: bytes) -> None:
        """Replace the document, durably, all of it or nothing."""


class MemoryStorage:
    """Remembers as long as the program runs."""

    __slots__ = ("_document", "_lock")

    def __init__(self) -> None:
        """Start empty."""
        self._document: bytes | None = None
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other threads out."""
        with self._lock:
            yield

    def read(self) -> bytes | None:
        """Return the document."""
        return self._document

    def write(self, document: bytes) -> None:
        """Replace the document."""
        self._document = document


class FileStorage:
    """Remembers in one file, readable by its owner only, replaced whole and synced."""

    __slots__ = ("path",)

    def __init__(self, path: str | Path) -> None:
        """Remember in the file at ``path``; its folder must exist."""
        self.path = Path(path)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other programs and threads out, by a lock on a file beside this one."""
        try:
            file = self.path.with_name(self.path.name + ".lock").open("ab")
        except OSError as error:
            problem = "the device's memory cannot be locked"
            raise StorageError(
                problem, given=str(self.path), expected="a writable folder"
            ) from error
        with file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def read(self) -> bytes | None:
        """Return the document, or ``None`` if there is no file."""
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            problem = "the device's memory cannot be read"
            raise StorageError(problem, given=str(self.path), expected="a readable file") from error

    def write(self, document: bytes) -> None:
        """Write beside the file, sync, and rename over it."""
        try:
            self._replace(document)
        except OSError as error:
            problem = "the device's memory cannot be written"
            raise StorageError(
                problem, given=str(self.path), expected="a writable folder"
            ) from error

    def _replace(self, document: bytes) -> None:
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=self.path.name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(document)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        folder = os.open(self.path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
