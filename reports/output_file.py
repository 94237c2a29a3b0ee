"""Files that a user asks for: there whole, or not at all."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copymode
from typing import IO, TYPE_CHECKING, Final

from ..models.errors import KubestowError

if TYPE_CHECKING:
    from collections.abc import Iterator

STANDARD_OUTPUT = "-"
_NAMES_OF_IT: Final = (STANDARD_OUTPUT, "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


class OutputFile:
    """A file under construction; it takes its name, or another's place, when it is complete.

    What is no ordinary file (a terminal, a pipe, `/dev/null`) is written as it is, and so is standard output,
    for which `-` and the system's names of it stand.

    Parameters
    ----------
    path : str
        As the user named it.

    Raises
    ------
    KubestowError
        Here and in all methods, where the file cannot be written.
    OSError
        Where standard output cannot, as from all else that writes to it; a pipe that is not read to its end
        is a `BrokenPipeError`.
    """

    def __init__(self, path: str) -> None:
        self._path = STANDARD_OUTPUT if path in _NAMES_OF_IT else path
        named = Path(path)
        self._place = named.resolve()
        self._draft: Path | None = None
        with self._told():
            if self._path == STANDARD_OUTPUT:
                sys.stdout.flush()
                self._file: IO[bytes] = sys.stdout.buffer
            elif named.exists() and not named.is_file():
                # by the name that was given: what /dev/fd leads to may have none
                self._file = named.open("wb")
            else:
                draft = self._place.with_name(f".{self._place.name[:200]}.{os.getpid()}.part")
                self._file = draft.open("xb")
                self._draft = draft
                if self._place.exists():
                    copymode(self._place, draft)

    def write(self, text: str) -> None:
        """Add text."""
        self.write_bytes(text.encode())

    def write_bytes(self, content: bytes) -> None:
        """Add bytes."""
        with self._told():
            self._file.write(content)

    def keep(self) -> None:
        """Take the file for complete."""
        with self._told():
            self._file.flush()
            if self._path != STANDARD_OUTPUT:
                self._file.close()
            if self._draft is not None:
                self._draft.replace(self._place)

    def drop(self) -> None:
        """Leave nothing behind."""
        if self._path != STANDARD_OUTPUT:
            with suppress(OSError):
                self._file.close()
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if self._path == STANDARD_OUTPUT or isinstance(error, BrokenPipeError):
                raise
            raise KubestowError(f"{self._path}: cannot be written: {error.strerror}") from None


def require_writable(path: str) -> None:
    """Find out whether a file can be written, before what goes into it is worked out.

    Raises
    ------
    KubestowError
        Where it cannot.
    """
    # a pipe or a device is opened once only: by what writes to it
    if path not in _NAMES_OF_IT and (Path(path).is_file() or not Path(path).exists()):
        OutputFile(path).drop()


@contextmanager
def output_file(path: str) -> Iterator[OutputFile]:
    """Open a file that stays only where nothing goes wrong before its end."""
    file = OutputFile(path)
    try:
        yield file
        file.keep()
    except BaseException:
        file.drop()
        raise
