"""From the paths that a user names to the bytes of each file.

A folder is read with all below it: what is hidden is left out, links are followed, and what cannot be looked
into is an error, since an object that is missing changes the answer. What a gzip file unpacks to has a limit,
so that a small file cannot fill the memory.
"""

import os
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Final, NoReturn

from ..models.errors import InputError, KubestowError
from ..models.progress import Watch, unwatched

STANDARD_INPUT = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_GZIP = b"\x1f\x8b"
_TO_NOTHING: Final = "is a link to a file or folder that does not exist"
_WITH_HEADER: Final = 31
_MIB: Final = 1 << 20
# Manifests shrink to a tenth or a fiftieth; a thousandth is what gzip can do.
_PIECE: Final = 1 << 16
_PORTION: Final = 4 * _MIB
_USUAL: Final = 64 * _MIB
_MOST_TIMES: Final = 200
_MOST: Final = 2048 * _MIB


def read_files(paths: Sequence[str | Path], watch: Watch = unwatched) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every file, unpacked: files as given, folders in sorted order, `-` for stdin.

    `watch` hears of the bytes of each.

    Raises
    ------
    InputError
        If a path is empty, does not exist or cannot be read, or a folder holds no manifest.
    """
    for path in paths:
        if not str(path):
            raise KubestowError("an empty argument names no file or folder; the current folder is '.'")
        if str(path) == STANDARD_INPUT:
            yield STANDARD_INPUT, unpack(STANDARD_INPUT, _read(sys.stdin.buffer, STANDARD_INPUT, 0, watch))
            continue
        for file in _expand(Path(path)):
            name = str(file)
            try:
                with file.open("rb") as stream:
                    content = _read(stream, name, os.fstat(stream.fileno()).st_size, watch)
            except OSError as error:
                raise InputError(name, "", "", f"cannot be read: {_reason(error)}") from None
            yield name, unpack(name, content)


def _read(stream: IO[bytes], name: str, size: int, watch: Watch) -> bytes:
    """Read a stream to its end, a piece at a time; `size` is 0 where it is not known."""
    content = bytearray()
    while piece := stream.read(_PORTION):
        content += piece
        watch(reading(name), len(content), size)
    return bytes(content)


def reading(name: str) -> str:
    """Return the phase in which the bytes of a file are read."""
    return f"reading {'standard input' if name == STANDARD_INPUT else name}: bytes"


def read_file(path: str | Path, what: str) -> tuple[str, bytes]:
    """Return name and content of the one file that a path stands for; otherwise as `read_files`.

    Raises
    ------
    InputError
        If it is a folder of several files, too.
    """
    files = list(read_files([path]))
    if len(files) > 1:
        raise InputError(str(path), "", "", f"is a folder of {len(files)} files; what is needed is {what}")
    return files[0]


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()


def _expand(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(str(path), "", "", _TO_NOTHING if path.is_symlink() else "no such file or folder")
    if not path.is_dir():
        return [path]
    files = sorted(_manifests(path))
    if not files:
        raise InputError(
            str(path), "", "", "the folder holds no .yaml, .yml or .json file (nor one with .gz)"
        )
    return files


def _manifests(folder: Path) -> Iterator[Path]:
    """Yield the manifests in a folder and below, in no order; a folder that links lead back to comes once."""

    def refuse(error: OSError) -> NoReturn:
        raise InputError(str(error.filename), "", "", f"cannot be read: {_reason(error)}") from None

    seen: set[tuple[int, int]] = set()
    for here, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        status = os.stat(here)
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if not name.startswith(".")]
        for path in (Path(here, name) for name in files if not name.startswith(".")):
            try:
                status = path.stat()
            except FileNotFoundError:
                raise InputError(str(path), "", "", _TO_NOTHING) from None
            except OSError as error:
                refuse(error)
            if path.name.lower().removesuffix(".gz").endswith(_SUFFIXES) and stat.S_ISREG(status.st_mode):
                yield path


def unpack(name: str, content: bytes) -> bytes:
    """Unpack gzip data, of several members too; other data is returned as it is."""
    if not content.startswith(_GZIP):
        return content
    parts: list[bytes] = []
    size = 0
    member = zlib.decompressobj(_WITH_HEADER)
    for start in range(0, len(content), _PIECE):
        piece = content[start : start + _PIECE]
        while piece:
            if member.eof:
                piece = piece.lstrip(b"\0")  # what pads the data between members, or after the last
                if not piece:
                    break
                member = zlib.decompressobj(_WITH_HEADER)
            try:
                parts.append(member.decompress(piece))
            except zlib.error:
                raise InputError(name, "", "", "is not whole gzip data") from None
            piece = member.unused_data
            size += len(parts[-1])
            if size > min(_MOST, max(_USUAL, _MOST_TIMES * (start + _PIECE))):
                message = f"gzip data that unpacks to {size // _MIB} MiB and more is too much to read"
                raise InputError(name, "", "", message)
    if not member.eof:
        raise InputError(name, "", "", "is not whole gzip data")
    return b"".join(parts)
