"""Whether a map in a JSON text holds a key twice: parsers silently take the last one."""

import re
from typing import Any, Final

import orjson

_TOKEN: Final = re.compile(r'("(?:[^"\\]|\\.)*")\s*(:?)|[{}]')


def may_have_lost_a_key(content: bytes, value: Any) -> bool:
    """Whether a value may have fewer keys than the text that it was parsed from.

    A key has a colon, and so may a text. Written again, a lost key takes its colon with it, and nothing adds
    one but a colon that is an escape in the text. Counting is far cheaper than parsing here.
    """
    if b"\\u003a" in content or b"\\u003A" in content:
        return True
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return True  # it is nested more deeply than can be written
    return content.count(b":") != written.count(b":")


def repeated_key(text: str) -> tuple[str, int] | None:
    """Return the first key that its map holds already, and where it stands again."""
    maps: list[set[str]] = []
    for token in _TOKEN.finditer(text):
        if token[0] == "{":
            maps.append(set())
        elif token[0] == "}":
            maps.pop()
        elif token[2]:
            key = orjson.loads(token[1])
            if key in maps[-1]:
                return key, token.start()
            maps[-1].add(key)
    return None
