"""Label selectors as text, as kubectl's `-l` takes them: `app=web,tier!=db,env in (a,b),!canary`.

Source: apimachinery pkg/labels/selector.go (Parse).
"""

import re
from collections.abc import Iterator
from typing import Final

from .selectors import CompiledSelector, NodeOperator, Requirement, compile_requirements, int64, requirement
from .validation.creation.names import label_value, qualified_name

_TOKEN: Final = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)")
_SIGNS: Final = frozenset({"==", "!=", "=", "!", "(", ")", ",", "<", ">"})
_END: Final = ""

_EXACT: Final[dict[str, NodeOperator]] = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
_SETS: Final[dict[str, NodeOperator]] = {"in": "In", "notin": "NotIn"}


def parse_selector(text: str) -> CompiledSelector:
    """Read a selector; an empty text selects everything.

    Raises
    ------
    ValueError
        If it is none; the message says what was found and what would be right.
    """
    return compile_requirements(tuple(_Parser(text).requirements()))


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), _END]
        self._next = 0

    def requirements(self) -> Iterator[Requirement]:
        if self._peek() == _END:
            return
        while True:
            yield self._requirement()
            if self._peek() == _END:
                return
            self._expect(",", "',' or the end")

    def _peek(self) -> str:
        return self._tokens[self._next]

    def _take(self) -> str:
        self._next += 1
        return self._tokens[self._next - 1]

    def _expect(self, token: str, what: str) -> None:
        if self._peek() != token:
            raise self._unexpected(what)
        self._take()

    def _unexpected(self, expected: str) -> ValueError:
        found = self._peek()
        return ValueError(f"{f'{found!r}' if found else 'the end'} stands where {expected} is expected")

    def _requirement(self) -> Requirement:
        absent = self._peek() == "!"
        if absent:
            self._take()
        key = self._key()
        if absent or self._peek() in (",", _END):
            return requirement(key, "DoesNotExist" if absent else "Exists")
        sign = self._peek()
        if sign in _EXACT:
            self._take()
            return self._exact(key, _EXACT[sign])
        if sign in _SETS:
            self._take()
            return requirement(key, _SETS[sign], tuple(self._values()))
        raise self._unexpected("one of =, ==, !=, in, notin, <, >")

    def _key(self) -> str:
        if self._peek() in _SIGNS or self._peek() == _END:
            raise self._unexpected("a label's key")
        key = self._take()
        if wrong := qualified_name(key):
            raise ValueError(f"a label's key {wrong}")
        return key

    def _exact(self, key: str, operator: NodeOperator) -> Requirement:
        value = "" if self._peek() in (",", _END) else self._value()
        if operator in ("Gt", "Lt") and int64(value) is None:
            raise ValueError(f"{key} is compared with a whole number, not {value!r}")
        return requirement(key, operator, (value,))

    def _value(self) -> str:
        if self._peek() in _SIGNS or self._peek() == _END:
            raise self._unexpected("a value")
        value = self._take()
        if wrong := label_value(value):
            raise ValueError(f"a label's value {wrong}")
        return value

    def _values(self) -> Iterator[str]:
        """Read a list in brackets; what is missing between two commas is the empty value."""
        self._expect("(", "'('")
        while True:
            yield "" if self._peek() in (",", ")") else self._value()
            if self._peek() == ")":
                self._take()
                return
            self._expect(",", "',' or ')'")
