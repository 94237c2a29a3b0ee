"""A domain that a device lacks reads as an empty map.

Upstream hands CEL a map with that default; the runtime here only takes plain maps. So a look-up of a domain
is rewritten before it is compiled:

    device.attributes["d"]    device.attributes[?"d"].orValue({})
    device.attributes.d       device.attributes[?"d"].orValue({})
    device.attributes[?"d"]   optional.of(device.attributes[?"d"].orValue({}))

`in`, `size` and the loops over all domains see the domains that are there, upstream as here. `has()` of a
field of `device`, or of a domain written as a field, is always true.
"""

import re
from collections.abc import Sequence
from typing import Final

FIELDS: Final = ("driver", "attributes", "capacity", "allowMultipleAllocations")
_MAPS: Final = ("attributes", "capacity")

_TOKEN = re.compile(
    r"""
    (?P<space> (?: \s+ | //[^\n]* )+ )
  | (?P<text> [bB]?[rR] (?: '{3}.*?'{3} | "{3}.*?"{3} | '[^'\n]*' | "[^"\n]*" )
            | [bB]? (?: '{3}(?:\\.|[^\\])*?'{3} | "{3}(?:\\.|[^\\])*?"{3}
                      | '(?:\\.|[^\\'\n])*' | "(?:\\.|[^\\"\n])*" ) )
  | (?P<word> [A-Za-z_][A-Za-z0-9_]* )
  | (?P<number> [0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)? )
  | (?P<mark> [=!<>]= | && | \|\| | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING: Final = {"(": ")", "[": "]", "{": "}"}


def rewrite(expression: str) -> str:
    """Return the expression with every look-up of a domain made safe."""
    tokens = [match.group() for match in _TOKEN.finditer(expression) if match.lastgroup != "space"]
    return " ".join(_rewrite(tokens))


def _rewrite(tokens: Sequence[str]) -> list[str]:
    out: list[str] = []
    k = 0
    while k < len(tokens):
        taken, replaced = _at(tokens, k)
        out += replaced
        k += taken
    return out


def _at(tokens: Sequence[str], k: int) -> tuple[int, list[str]]:
    """Rewrite what starts at token k: how many tokens it takes, and what stands in their place."""
    if tokens[k] == "has" and _is_presence_test(tokens[k + 1 : k + 8]):
        return tokens.index(")", k) + 1 - k, ["true"]
    if not (_device_field(tokens, k) in _MAPS and (k == 0 or tokens[k - 1] != ".")):
        return 1, [tokens[k]]
    base = list(tokens[k : k + 3])
    rest = tokens[k + 3 : k + 7]
    if rest[:1] == ["["]:
        end = _closing(tokens, k + 3)
        inner = tokens[k + 4 : end]
        optional = inner[:1] == ["?"]
        domain = _rewrite(inner[1:] if optional else inner)
        return end + 1 - k, _safe(base, domain, optional=optional)
    if rest[:2] == [".", "?"] and len(rest) > 2:
        return 6, _safe(base, [f'"{rest[2]}"'], optional=True)
    if rest[:1] == ["."] and len(rest) > 1 and rest[2:3] != ["("]:
        return 5, _safe(base, [f'"{rest[1]}"'], optional=False)
    return 3, base


def _safe(base: list[str], domain: list[str], *, optional: bool) -> list[str]:
    found = [*base, "[", "?", *domain, "]", ".", "orValue", "(", "{", "}", ")"]
    return ["optional", ".", "of", "(", *found, ")"] if optional else found


def _device_field(tokens: Sequence[str], k: int) -> str:
    """Return the field where `device.<field>` stands at token k, else an empty text."""
    field = tokens[k + 2] if tokens[k : k + 2] == ["device", "."] and len(tokens) > k + 2 else ""
    return field if field in FIELDS else ""


def _is_presence_test(tokens: Sequence[str]) -> bool:
    """Whether these are the arguments of `has(device.<field>)` or `has(device.<map>.<domain>)`."""
    if tokens[:1] != ["("]:
        return False
    field = _device_field(tokens, 1)
    if field and tokens[4:5] == [")"]:
        return True
    return field in _MAPS and tokens[4:5] == ["."] and tokens[6:7] == [")"]


def _closing(tokens: Sequence[str], k: int) -> int:
    """Return the place of the bracket that closes the one at k; the end where none does."""
    open_brackets: list[str] = []
    for at in range(k, len(tokens)):
        if tokens[at] in _OPENING:
            open_brackets.append(_OPENING[tokens[at]])
        elif open_brackets and tokens[at] == open_brackets[-1]:
            open_brackets.pop()
            if not open_brackets:
                return at
    return len(tokens)
