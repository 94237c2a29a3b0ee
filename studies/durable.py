"""Files that survive a crash at any moment, and a lock that does not."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from ..models.errors import KubestowError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DRAFT: Final = ".draft"
LOCK: Final = ".lock"


def write(path: Path, content: bytes) -> None:
    """Write a file that is there whole or not at all, and still there after a power cut.

    It is written beside its place, forced to the disk, renamed, and the folder's entry forced to the disk.

    Raises
    ------
    KubestowError
        Where it cannot be written.
    """
    draft = path.with_name(f".{path.name}{_DRAFT}")
    try:
        with draft.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        _settle(path.parent)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise KubestowError(f"{path}: cannot be written: {error.strerror}") from None


def sweep(folder: Path) -> None:
    """Take away what writers that were killed left behind."""
    for draft in folder.glob(f".*{_DRAFT}"):
        draft.unlink(missing_ok=True)


def _settle(folder: Path) -> None:
    """Force a folder's entries to the disk, where the system can."""
    if os.name == "nt":
        return
    entry = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(entry)
    finally:
        os.close(entry)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; the lock ends with the process, however that ends.

    It is a lock of the process, which processes that it starts do not inherit: a worker that outlives a kill
    of its parent keeps nobody out.

    Raises
    ------
    KubestowError
        Where another process holds it, or the system has no such locks.
    """
    try:
        import fcntl
    except ImportError:
        raise KubestowError("--into needs a system with POSIX locks of files") from None
    with (folder / LOCK).open("a") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise KubestowError(f"{folder}: another process writes this study now") from None
        except OSError as error:
            raise KubestowError(f"{folder}: cannot be locked: {error.strerror}") from None
        yield
