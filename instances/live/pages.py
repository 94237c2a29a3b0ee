"""A list in pages, whatever happens to it on the way.

A list is read as of one moment. Where that takes so long that the server forgets the moment (410), the rest
is read as of another one, with the token that the server sends for this, or the list is begun anew. Either
way each object comes once.

Source: the API concepts of Kubernetes, "retrieving large results sets in chunks"; client-go tools/pager.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...models.errors import KubestowError
from .client import Answer, Client, Refused

LIMIT: Final = 500
"""Objects in a page."""

_BEGINNINGS: Final = 5
_IDLE: Final = 100
"""Pages without a new object, beyond those that a list begun anew repeats."""

_GONE: Final = 410


class Page(NamedTuple):
    """A part of a list; `torn` where it is of another moment than the part before."""

    items: list[dict[str, Any]]
    answer: Answer
    torn: bool


def pages(client: Client, path: str) -> Iterator[Page]:
    """Yield the pages of a list.

    Raises
    ------
    Refused
        If the server will not list.
    KubestowError
        If the server forgets the list again and again, goes round in a circle, or sends no list of objects.
    """
    seen: set[str] = set()
    token = ""
    torn = False
    begun = 1
    number = idle = 0
    tokens: set[str] = set()
    while True:
        query = {"limit": str(LIMIT), **({"continue": token} if token else {})}
        try:
            answer = client.get(path, query)
        except Refused as error:
            if error.status != _GONE or not token:
                raise
            begun += 1
            if begun > _BEGINNINGS:
                raise KubestowError(f"{path}: the cluster forgot the list {_BEGINNINGS} times") from None
            token = _token(error.document)
            torn = True
            tokens.clear()
            continue
        number += 1
        new = [item for item in _items(answer, path, number) if _key(item) not in seen]
        seen.update(map(_key, new))
        yield Page(new, answer, torn)
        torn = False
        token = _token(answer.document)
        if not token:
            return
        idle = 0 if new else idle + 1
        if token in tokens or idle > number - idle + _IDLE:
            raise KubestowError(f"{path}: the list has no end: page {number} leads back to an earlier one")
        tokens.add(token)


def _items(answer: Answer, path: str, number: int) -> list[dict[str, Any]]:
    items = answer.document.get("items")
    if items is None:
        return []
    if not isinstance(items, list):
        raise KubestowError(f"{path}: page {number}: items must be a list")
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            raise KubestowError(f"{path}: page {number}: items[{index}] must be an object")
    return items


def _token(document: dict[str, Any]) -> str:
    meta = document.get("metadata")
    found = meta.get("continue") if isinstance(meta, dict) else None
    return found if isinstance(found, str) else ""


def _key(item: dict[str, Any]) -> str:
    meta = item.get("metadata")
    meta = meta if isinstance(meta, dict) else {}
    return f"{meta.get('namespace', '')}/{meta.get('name', '')}"
