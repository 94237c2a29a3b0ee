"""A snapshot as a file: a List as `kubectl get -o json` writes it, in gzip where its name says so."""

from __future__ import annotations

import zlib
from contextlib import contextmanager
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Final

import orjson

from .output_file import STANDARD_OUTPUT, OutputFile, output_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_HEAD: Final = b'{"apiVersion":"v1","kind":"List","items":[\n'
_TAIL: Final = b"\n]}\n"
_GZIP: Final = 31
_LEVEL: Final = 6
_IN_MEMORY: Final = 16 << 20
_PIECE: Final = 1 << 20


class SnapshotFile:
    """A list under construction, written as objects come.

    Parameters
    ----------
    write : callable
        Takes the next bytes of the list.

    Attributes
    ----------
    number : int
        How many objects there are.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.number = 0
        self._write = write

    def add(self, item: Mapping[str, object]) -> None:
        """Add an object, a line of its own."""
        self._write(_HEAD if self.number == 0 else b",\n")
        self._write(orjson.dumps(item))
        self.number += 1

    def close(self) -> None:
        """End the list."""
        self._write(_TAIL if self.number else _HEAD + _TAIL)


@contextmanager
def snapshot_file(path: str) -> Iterator[SnapshotFile]:
    """Open a list that stays only where nothing goes wrong before its end; `-` is standard output.

    What standard output has got cannot be taken back, so it gets nothing before the list is whole.

    Raises
    ------
    KubestowError
        If it cannot be written.
    OSError
        If standard output cannot.
    """
    made = _collected if path == STANDARD_OUTPUT else partial(packed, path)
    with output_file(path) as file, made(file) as write:
        items = SnapshotFile(write)
        yield items
        items.close()


@contextmanager
def _collected(file: OutputFile) -> Iterator[Callable[[bytes], object]]:
    """Hold everything back until the end, what is large in a file without a name."""
    with SpooledTemporaryFile(_IN_MEMORY) as parts:
        yield parts.write
        parts.seek(0)
        for piece in iter(partial(parts.read, _PIECE), b""):
            file.write_bytes(piece)


@contextmanager
def packed(path: str, file: OutputFile) -> Iterator[Callable[[bytes], object]]:
    """Yield what writes to a file, in gzip where its name ends with .gz."""
    if not path.endswith(".gz"):
        yield file.write_bytes
        return
    # Not `gzip.open`: that would write the time, and two snapshots of one state would differ.
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _GZIP)
    yield lambda content: file.write_bytes(packer.compress(content))
    file.write_bytes(packer.flush())
