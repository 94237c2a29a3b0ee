"""The words that tables and messages share: lists cut short, counts with their noun, text made visible."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

T = TypeVar("T")

_COUNTED: Final = re.compile(r"(?<=: |, )\d+ ")
"""How many nodes give a reason, in kube-scheduler's messages."""


def count(number: int, noun: str) -> str:
    """Return `1 pod` or `3 pods`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def listed(items: Iterable[str], limit: int = 6) -> str:
    """Join names with commas; where there are more than `limit`, the last ones are only counted."""
    names = list(items)
    if len(names) <= limit:
        return ", ".join(names)
    return ", ".join(names[: limit - 1]) + f" and {len(names) - limit + 1} more"


def cut(rows: Sequence[T], limit: int) -> tuple[Sequence[T], int]:
    """Return the first rows and how many are left out; a table is not cut for the sake of one row."""
    if len(rows) <= limit + 1:
        return rows, 0
    return rows[:limit], len(rows) - limit


def reason(message: str) -> str:
    """Return kube-scheduler's message without its counts of nodes: what equal reasons have in common."""
    return _COUNTED.sub("", message)


def shown(text: str) -> str:
    """Return text in which all but ends of lines can be seen: other characters are spelled out."""
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in text)
