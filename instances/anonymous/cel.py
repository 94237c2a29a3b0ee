"""CEL selectors of devices with other names in them.

Texts that are compared with a driver or an attribute as a whole get the words for them, domains of attributes
those for drivers; names of attributes and capacities are a vendor's vocabulary and stay. A selector that
looks into a text (`startsWith`, `matches`, `+`) says something of the text itself and cannot stand beside
another one: it is opaque.

Source: the CEL language definition (lexis); KEP-4381 for what a selector sees.
"""

import re
from collections.abc import Callable
from typing import Final

_TOKEN: Final = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*)
  | (?P<odd>[rRbB]+(?:\"|')|\"\"\"|''')
  | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
  | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<sign>==|!=|<=|>=|&&|\|\||[0-9][0-9A-Za-z.]*|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_SAFE_CALLS: Final = frozenset(
    (
        *("has", "quantity", "isQuantity", "semver", "isSemver", "orValue", "hasValue", "value"),
        *("compareTo", "isGreaterThan", "isLessThan", "sign", "isInteger", "asInteger", "asApproximateFloat"),
        *("add", "sub", "major", "minor", "patch", "exists", "exists_one", "all", "filter", "map"),
    )
)
_PARSED: Final = frozenset(("quantity", "isQuantity", "semver", "isSemver"))
_BY_DOMAIN: Final = ("attributes", "capacity")
_KEEP, _DOMAIN, _VALUE, _OPAQUE = "keep", "domain", "value", "opaque"


class Selector:
    """A parsed expression.

    Attributes
    ----------
    opaque : bool
        Whether its texts cannot have other words.
    """

    def __init__(self, expression: str) -> None:
        self._tokens = [
            (found.lastgroup or "", found[0])
            for found in _TOKEN.finditer(expression)
            if not found[0].startswith("//")
        ]
        self._meant = [at for at, (group, _) in enumerate(self._tokens) if group != "space"]
        self._uses = {
            place: self._use(place)
            for place, at in enumerate(self._meant)
            if self._tokens[at][0] in ("text", "odd")
        }
        self.opaque = _OPAQUE in self._uses.values() or any(map(self._unsafe_call, range(len(self._meant))))

    def rewritten(self, domain: Callable[[str], str], value: Callable[[str], str]) -> str:
        """Return the expression with other texts, without its comments.

        Parameters
        ----------
        domain : callable
            The word for a driver's name as the domain of attributes.
        value : callable
            The word for a text that something is compared with.
        """
        parts = [text for _, text in self._tokens]
        if not self.opaque:
            for place, use in self._uses.items():
                at = self._meant[place]
                text = parts[at][1:-1]
                if use != _KEEP:
                    parts[at] = f'"{domain(text) if use == _DOMAIN else value(text)}"'
        return "".join(parts)

    def _at(self, place: int) -> str:
        return self._tokens[self._meant[place]][1] if 0 <= place < len(self._meant) else ""

    def _unsafe_call(self, place: int) -> bool:
        name = self._at(place)
        is_word = self._tokens[self._meant[place]][0] == "word"
        return is_word and name != "in" and self._at(place + 1) == "(" and name not in _SAFE_CALLS

    def _use(self, place: int) -> str:
        text, before, after = self._at(place), self._at(place - 1), self._at(place + 1)
        if self._tokens[self._meant[place]][0] == "odd" or "\\" in text:
            return _OPAQUE
        opener = place - 2 if before == "?" else place - 1  # an optional index: device.attributes[?"…"]
        if self._at(opener) == "[" and after == "]" and self._at(opener - 1) != "in":
            return self._index(opener - 1)
        if after == "in":
            return self._member(place + 2)
        if before in ("==", "!=") or after in ("==", "!="):
            return _OPAQUE if "+" in (before, after) else _VALUE
        if before in ("[", "(", ",") and after in ("]", ")", ","):
            return self._element(place)
        return _OPAQUE

    def _index(self, owner: int) -> str:
        if self._at(owner) in _BY_DOMAIN:
            return _DOMAIN
        return _KEEP if self._at(owner) == "]" else _OPAQUE

    def _member(self, start: int) -> str:
        """Return what a text is of which is asked whether it is in what stands there."""
        if self._at(start) == "[":
            return _VALUE
        if [self._at(start), self._at(start + 1)] != ["device", "."] or self._at(start + 2) not in _BY_DOMAIN:
            return _OPAQUE
        if self._at(start + 3) != "[":
            return _DOMAIN
        return _VALUE if self._at(start + 6) in (".", "[") else _KEEP

    def _element(self, place: int) -> str:
        """Return what a text is that stands in a list or among arguments."""
        depth = 0
        while place >= 0:
            place -= 1
            sign = self._at(place)
            if sign in ("]", ")", "}"):
                depth += 1
            elif sign in ("[", "(", "{"):
                if depth == 0:
                    break
                depth -= 1
        opener, owner = self._at(place), self._at(place - 1)
        if opener == "[":
            return _VALUE if owner in ("in", "==", "!=") else _OPAQUE
        if owner in _PARSED:
            return _KEEP
        return _VALUE if owner == "orValue" else _OPAQUE
