"""Long lists in JSON, as `kubectl get -o json` prints them, a slice at a time.

The tree of a large dump takes many times the memory of its text, and most of the time of reading it. Where
an item ends is guessed from how the first one begins; since a slice that is JSON by itself is a run of
whole items, a wrong guess shows, and the slice is made longer. What is not JSON, or holds a key twice, is
left to the reader of whole documents, which says where it is wrong.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import orjson

from .json_keys import may_have_lost_a_key, repeated_key

LONG: Final = 1 << 20
"""From how many bytes on a list is read in slices."""

_SLICE: Final = 1 << 14
_VALUE: Final = rb'(?:"[^"\\]*"|\{(?:[^{}"]|"[^"\\]*")*\})'
# What stands before the items of a list: simple members and flat ones, so that the items are the list's own.
_HEAD: Final = re.compile(rb'\s*\{\s*(?:"[^"\\]*"\s*:\s*' + _VALUE + rb'\s*,\s*)*"items"\s*:\s*\[')
_OPENING: Final = re.compile(rb'(\s*)\{(\s*)("[^"\\]*")')


class Items:
    """The items of a long list, made of their text anew each time that they are asked for.

    Parameters
    ----------
    content : bytes
        The file.
    slices : list of (int, int)
        Where in it runs of whole items, with the commas between them, begin and end.
    number : int
        How many items there are.
    """

    def __init__(self, content: bytes, slices: list[tuple[int, int]], number: int) -> None:
        self._content = content
        self._slices = slices
        self._number = number

    def __len__(self) -> int:
        """Return how many items there are."""
        return self._number

    @property
    def slices(self) -> int:
        """How many slices there are."""
        return len(self._slices)

    def __iter__(self) -> Iterator[Any]:
        """Yield the items in their order."""
        for start, end in self._slices:
            yield from orjson.loads(b"[%b]" % self._content[start:end])


def read_long_list(content: bytes, start: int, end: int) -> dict[str, Any] | None:
    """Read a list whose text begins and ends there, with `Items` as its items.

    Returns
    -------
    dict or None
        None where the text is no such list, or not one without a fault.
    """
    head = _HEAD.match(content, start, end)
    last = content.rfind(b"]", start, end)
    if head is None or last < head.end():
        return None
    shell = _parsed(content[start : head.end()] + content[last:end])
    items = _sliced(content, head.end(), last)
    if not isinstance(shell, dict) or items is None:
        return None
    return {**shell, "items": items}


def _sliced(content: bytes, start: int, end: int) -> Items | None:
    """Divide the inside of a list into slices that are JSON by themselves; None where that does not work."""
    opening = _OPENING.match(content, start, end)
    if opening is None:
        return None
    boundary = b"},%b{%b%b" % opening.groups()
    slices = []
    number = 0
    length = _SLICE
    while True:
        found = content.find(boundary, start + length, end)
        stop = end if found < 0 else found + 1
        # As deep as it is in the file, since nesting has a limit.
        read = _parsed(b"[[%b]]" % content[start:stop])
        if read is not None:
            slices.append((start, stop))
            number += len(read[0])
            start = stop + 1
            length = _SLICE
            if stop == end:
                return Items(content, slices, number)
        elif stop == end:
            return None
        else:
            length *= 2


def _parsed(text: bytes) -> Any:
    """Return what a text says, None where it is not JSON, or not to be taken as it is."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if may_have_lost_a_key(text, value) and repeated_key(text.decode()) is not None:
        return None
    return value
