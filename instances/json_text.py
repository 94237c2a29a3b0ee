"""JSON as a program wrote it or a person changed it: the value, or one line about what is wrong where.

A key that stands twice in one map is an error, as it is in YAML.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from ..models.errors import InputError
from .json_keys import may_have_lost_a_key, repeated_key
from .json_lists import LONG, read_long_list

_WORD: Final = re.compile(r"-?(?:NaN|Infinity|nan|inf)\b")
_NUMBER: Final = re.compile(r"-?[0-9][0-9.eE+-]*")
_SHOWN: Final = 24
_SPACE: Final = re.compile(r"[ \t\r\n]*")
# Finds where a document ends, and makes as little as it can of what is in it.
_SCANNER: Final = json.JSONDecoder(
    object_pairs_hook=len, parse_int=len, parse_float=len, parse_constant=len, strict=False
)


def read_json_documents(file: str, content: bytes, *, in_slices: bool = False) -> list[Any]:
    """Read the JSON documents of a file in UTF-8: one, or several that follow each other.

    Parameters
    ----------
    in_slices : bool
        Whether a long list may come with `json_lists.Items` as its items.

    Raises
    ------
    InputError
        If one is not JSON, or a map in it holds a key twice.
    """
    try:
        return [_read_part(file, content, start, end, in_slices) for start, end in _lines_apart(content)]
    except InputError:
        pass  # what is said of it is where in the whole file it is
    try:
        return [read_json(file, content)]
    except InputError:
        text = content.decode()
        ends = list(_ends(text))
        if not ends or not text[ends[0] :].strip():
            raise
    starts = [0, *ends] if text[ends[-1] :].strip() else [0, *ends[:-1]]
    return [
        _read(file, "", text, start, text[start:end].encode())
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
    ]


def _lines_apart(content: bytes) -> Iterator[tuple[int, int]]:
    """Yield where documents begin and end that begin on lines of their own.

    In JSON a comma stands between a map that closes and one that opens, and no text holds a line break.
    """
    start = 0
    while (found := content.find(b"}\n{", start)) >= 0:
        yield start, found + 1
        start = found + 2
    yield start, len(content)


def _read_part(file: str, content: bytes, start: int, end: int, in_slices: bool) -> Any:
    if in_slices and end - start >= LONG:
        document = read_long_list(content, start, end)
        if document is not None:
            return document
    return read_json(file, content[start:end])


def _ends(text: str) -> Iterator[int]:
    """Yield where each document ends, as long as there is one."""
    start = _after_space(text, 0)
    while start < len(text):
        try:
            _, end = _SCANNER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return
        yield end
        start = _after_space(text, end)


def _after_space(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


def read_json(file: str, content: bytes, place: str = "") -> Any:
    """Read one JSON document in UTF-8.

    Parameters
    ----------
    file : str
        Where it comes from.
    content : bytes
        The whole document.
    place : str
        What it is within the file, empty where it is all of it.

    Raises
    ------
    InputError
        If it is not JSON, or a map holds a key twice.
    """
    return _read(file, place, None, 0, content)


def _read(file: str, place: str, whole: str | None, start: int, content: bytes) -> Any:
    """Read the document that starts there in the whole text, which is that document where it is None."""
    try:
        value = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        text = error.doc if whole is None else whole
        raise _fault(file, place, text, start + error.pos, f"is not JSON: {_reason(error)}") from None
    if may_have_lost_a_key(content, value):
        text = content.decode()
        repeated = repeated_key(text)
        if repeated is not None:
            key, where = repeated
            words = f"key {key!r} stands twice in its map"
            raise _fault(file, place, text if whole is None else whole, start + where, words)
    return value


def _fault(file: str, place: str, text: str, position: int, words: str) -> InputError:
    line = text.count("\n", 0, position) + 1
    column = position - text.rfind("\n", 0, position)
    where = f"column {column}" if place else f"line {line}, column {column}"
    return InputError(file, place, "", f"{where}: {words}")


def _reason(error: orjson.JSONDecodeError) -> str:
    """Return what is wrong and what would be right, where the parser's own words are not enough."""
    text, position = error.doc, error.pos
    signed = text[position - 1 : position] == "-"  # the parser stands behind a sign that it has read
    word = _WORD.match(text, position - signed)
    if word:
        return f"{word[0]} is no number there; write null or a finite number"
    number = _NUMBER.match(text, position)
    if number and len(number[0]) > _SHOWN:
        return f"the number {number[0][:_SHOWN]}… has {len(number[0])} digits and is out of range"
    if number and "infinity" in error.msg:
        return f"the number {number[0]} is out of range"
    if position >= len(text.rstrip()):
        return "it ends too early"
    if "depth" in error.msg or "ecursion" in error.msg:
        return "it is nested too deeply; maps and lists go 1024 levels deep at the most"
    if "after document" in error.msg or "trailing content" in error.msg:
        return "something follows the document"
    return error.msg
