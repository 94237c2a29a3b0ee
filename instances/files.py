"""From the paths that a user names to the bytes of each file."""

import gzip
import sys
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from ..models.errors import InputError

STANDARD_INPUT = "-"
_SUFFIXES = (".yaml", ".yml", ".json")
_GZIP = b"\x1f\x8b"


def read_files(paths: Sequence[str | Path]) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of every file, unpacked: files as given, folders in sorted order, `-` for stdin.

    Raises
    ------
    InputError
        If a path does not exist or cannot be read, or a folder holds no manifest.
    """
    for path in paths:
        if str(path) == STANDARD_INPUT:
            yield STANDARD_INPUT, _unpack(STANDARD_INPUT, sys.stdin.buffer.read())
            continue
        for file in _expand(Path(path)):
            name = str(file)
            try:
                content = file.read_bytes()
            except OSError as error:
                raise InputError(name, "", "", f"cannot be read: {_reason(error)}") from None
            yield name, _unpack(name, content)


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


def _is_manifest(path: Path) -> bool:
    name = path.name.lower().removesuffix(".gz")
    return name.endswith(_SUFFIXES) and not path.name.startswith(".") and path.is_file()


def _expand(path: Path) -> list[Path]:
    if not path.exists():
        raise InputError(str(path), "", "", "no such file or folder")
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.rglob("*") if _is_manifest(file))
    if not files:
        raise InputError(
            str(path), "", "", "the folder holds no .yaml, .yml or .json file (nor one with .gz)"
        )
    return files


def _unpack(name: str, content: bytes) -> bytes:
    if not content.startswith(_GZIP):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        raise InputError(name, "", "", "is not whole gzip data") from None
