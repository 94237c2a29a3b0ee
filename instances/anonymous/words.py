"""Other words for all names, one for each, in the same order.

A text is one word wherever it stands, so that whatever was equal stays equal: a node's name in a label, a
claim's name in a pod. Within a category new words sort as the old ones did, so that ties between equals go
the same way. Names that are made of others (`<pod>-<volume>`) are made of their words.
"""

import re
from collections.abc import Callable, Iterable
from typing import Final

CATEGORIES: Final[dict[str, Callable[[str], str]]] = {
    "node": lambda number: f"node-{number}",
    "namespace": lambda number: f"ns-{number}",
    "uid": lambda number: f"00000000-0000-4000-8000-{number.zfill(12)}",
    "driver": lambda number: f"driver-{number}.example",
    "priority": lambda number: f"priority-{number}",
    "scheduler": lambda number: f"scheduler-{number}",
    "image": lambda number: f"image-{number}:x",
    "ip": lambda number: ".".join(map(str, (10, *int(number).to_bytes(3, "big")))),
    "iqn": lambda number: f"iqn.2000-01.example:{number}",
    "ebs": lambda number: f"vol-{number}",
    "kind": lambda number: f"Kind{number}",
    "zone": lambda number: f"zone-{number}",
    "suffix": lambda number: f"x{number}",
    "name": lambda number: f"name-{number}",
    "attribute": lambda number: f"value-{number}",
    "value": lambda number: f"value-{number}",
    "key": lambda number: f"key-{number}",
}
"""Category to how its words look, by number. A text of several that are not apart is of the first."""

_APART: Final = frozenset(("priority", "scheduler", "image", "ip", "iqn", "kind", "key"))
"""Categories whose texts are compared with none of another category; each has words of its own."""

_OF_DEVICES: Final = frozenset(("driver", "attribute"))
"""Categories of what a selector of devices sees."""

_ONE_NUMBER: Final = {"value": "attribute"}
"""Categories that share the numbers of another, since their words look alike."""

_LEAST_DIGITS: Final = 3
_KEPT: Final = frozenset(
    (
        *("", "default", "kube-system", "kube-public", "kube-node-lease", "default-scheduler"),
        *("0.0.0.0", "::", "rbd"),
    )
)


class Words:
    """Collects texts, and then gives the word for each.

    Attributes
    ----------
    ambiguous : set of str
        Texts that are made of others in two ways, and stay.
    """

    def __init__(self) -> None:
        self.ambiguous: set[str] = set()
        self._kept = set(_KEPT)
        self._category: dict[str, str] = {}
        self._of_devices: set[str] = set()
        self._apart: dict[str, set[str]] = {category: set() for category in _APART}
        self._made_of: dict[str, tuple[str, str, str]] = {}
        self._words: dict[tuple[str, str], str] | None = None

    @property
    def settled(self) -> bool:
        """Whether all texts are collected."""
        return self._words is not None

    def keep(self, texts: Iterable[str]) -> None:
        """Let these texts stay as they are."""
        self._kept.update(texts)

    def make(self, text: str, head: str, between: str, tail: str) -> None:
        """Let a text be made of the words for head and tail.

        A text that is already made of others, in another namespace, stays as it is, and so do all of them.
        """
        parts = (head, between, tail)
        known = self._made_of.setdefault(text, parts)
        if known != parts:
            self.ambiguous.add(text)
            self.keep((text, head, tail, known[0], known[2]))

    def of(self, category: str) -> list[str]:
        """Return the texts that were collected for a category that is not apart, and for none before it."""
        return [text for text, own in self._category.items() if own == category]

    def of_devices(self) -> set[str]:
        """Return the texts that were collected as drivers or values of attributes, and as anything else."""
        return self._of_devices - self._kept

    def word(self, category: str, text: str) -> str:
        """Return the word for a text; before all are collected, collect it."""
        if self._words is not None:
            return text if text in self._kept else self._words[category if category in _APART else "", text]
        if category in _APART:
            self._apart[category].add(text)
            return text
        if category in _OF_DEVICES:
            self._of_devices.add(text)
        known = self._category.get(text)
        if known is None or _RANK[category] < _RANK[known]:
            self._category[text] = category
        return text

    def settle(self) -> None:
        """Give every text its word."""
        texts: dict[str, list[str]] = {}
        for text, category in self._category.items():
            if not (text in self._made_of and category not in _STRONG):
                texts.setdefault(_ONE_NUMBER.get(category, category), []).append(text)
        words: dict[str, str] = {}
        for category, found in texts.items():
            words.update(self._numbered(category, found))
        for text in self._made_of:
            self._compose(text, words)
        self._words = {("", text): word for text, word in words.items()}
        for category, own in self._apart.items():
            for text, word in self._numbered(category, own).items():
                self._words[category, text] = word

    def _numbered(self, category: str, texts: Iterable[str]) -> dict[str, str]:
        look = CATEGORIES[category]
        others = sorted(set(texts) - self._kept)
        digits = max(_LEAST_DIGITS, len(str(len(others))))
        while True:
            words = [look(str(number).zfill(digits)) for number in range(1, len(others) + 1)]
            if self._kept.isdisjoint(words):
                return dict(zip(others, words, strict=True))
            digits += 1

    def _compose(self, text: str, words: dict[str, str]) -> str:
        if text in self._kept:
            return text
        if text not in words:
            head, between, tail = self._made_of[text]
            words[text] = f"{self._compose(head, words)}{between}{self._compose(tail, words)}"
        return words[text]


_RANK: Final = {category: rank for rank, category in enumerate(CATEGORIES)}
_STRONG: Final = frozenset(("node", "namespace", "uid", "driver"))

_ORDINAL: Final = re.compile(r"(?P<head>.+)-(?P<number>\d+)")


def ordinal(text: str) -> tuple[str, str] | None:
    """Return the two parts of a name that ends with a number, such as `web-0`; None for another."""
    found = _ORDINAL.fullmatch(text)
    return None if found is None else (found["head"], found["number"])
