"""From a file's bytes to its documents: JSON, or YAML as kubectl reads it.

YAML is read with the rules of the Go library that kubectl uses, where those differ from PyYAML's: a time and
a number with colons are text, `1e3` is a number. A float keeps its spelling, so that a quantity such as `cpu:
0.1` stays exact. A key that stands twice in one map is an error.
"""

import codecs
import re
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from ..models.errors import InputError
from ..models.quantity import SpelledFloat
from .json_text import read_json


def read_documents(file: str, content: bytes) -> Iterator[Any]:
    """Yield the documents of a file; None for an empty one.

    Raises
    ------
    InputError
        If the content is neither JSON nor YAML.
    """
    content = _as_utf8(file, content)
    start = content[:_START].lstrip()
    if start[:1] not in (b"{", b"["):
        yield from _read_yaml(file, content)
        return
    try:
        documents = [read_json(file, content)]
    except InputError as no_json:
        if file.lower().removesuffix(".gz").endswith(".json"):
            raise
        try:
            documents = list(_read_yaml(file, content))
        except InputError:
            # YAML's short form begins as JSON does, but seldom with quotation marks.
            if _JSON.match(start):
                raise no_json from None
            raise
    yield from documents


def the_document(file: str, content: bytes, what: str) -> Any:
    """Return the one document that a file holds.

    Raises
    ------
    InputError
        If it is none or several, too.
    """
    documents = [item for item in read_documents(file, content) if item is not None]
    if not documents:
        raise InputError(file, "", "", f"is empty; what is needed is {what}")
    if len(documents) > 1:
        raise InputError(file, "", "", f"must hold one document, {what}, not {len(documents)}")
    return documents[0]


_START = 4096
_LONG = 40
_JSON = re.compile(rb'[\[{]\s*["{\[]')

_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


def _as_utf8(file: str, content: bytes) -> bytes:
    """Drop a byte order mark; some shells write their output in UTF-16."""
    mark, encoding = next((pair for pair in _ENCODINGS if content.startswith(pair[0])), (b"", "utf-8"))
    content = content[len(mark) :]
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(file, "", "", f"is not text in UTF-8: byte {error.start} cannot be read") from None
    return content if encoding == "utf-8" else text.encode()


class _RepeatedKey(yaml.MarkedYAMLError):
    """A map that holds a key twice."""


class _Loader(yaml.CSafeLoader):
    """The C parser with kubectl's idea of what a plain scalar means."""


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    replaced = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float", "tag:yaml.org,2002:timestamp")
    kept = {
        first: [(tag, pattern) for tag, pattern in entries if tag not in replaced]
        for first, entries in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
    whole = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)$")
    real = re.compile(
        r"[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$|[-+]?\.(?:inf|Inf|INF)$"
    )
    for first in "-+.0123456789":
        kept.setdefault(first, []).extend(
            (("tag:yaml.org,2002:int", whole), ("tag:yaml.org,2002:float", real))
        )
    return kept


_Loader.yaml_implicit_resolvers = _resolvers()

_EXACT_FLOAT = 2**53


def _float(text: str) -> int | float:
    """Read a float; a whole one is a whole number, as it is after kubectl has made JSON of it."""
    spelling = text.replace("_", "").lower()
    if spelling.endswith("inf"):
        return float(spelling.replace(".", ""))
    number = SpelledFloat(spelling)
    return int(number) if number.is_integer() and abs(number) < _EXACT_FLOAT else number


def _int(text: str) -> int:
    digits = text.replace("_", "").lower()
    unsigned = digits.lstrip("+-")
    if len(unsigned) > 1 and unsigned[0] == "0" and unsigned[1] not in "xbo":
        digits = digits.replace("0", "0o", 1)
    return int(digits, 0)


_TRUE = frozenset(("yes", "true", "on"))
_SCALARS: dict[str, Callable[[str], Any]] = {
    "tag:yaml.org,2002:int": _int,
    "tag:yaml.org,2002:float": _float,
    "tag:yaml.org,2002:bool": lambda text: text.lower() in _TRUE,
    "tag:yaml.org,2002:null": lambda text: None,
}


def _read_yaml(file: str, content: bytes) -> Iterator[Any]:
    loader = _Loader(content)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                yield _Builder().build(node)
    except yaml.YAMLError as error:
        raise InputError(file, "", "", _complaint(error)) from None
    except RecursionError:
        raise InputError(file, "", "", "is nested too deeply") from None
    finally:
        loader.dispose()


def _complaint(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    problem = getattr(error, "problem", None) or getattr(error, "reason", None) or str(error)
    where = f"line {mark.line + 1}: " if mark is not None else ""
    return f"{where}{'' if isinstance(error, _RepeatedKey) else 'is not YAML: '}{problem}"


class _Builder:
    """Turns one document's nodes into values; a node that an alias repeats is built once."""

    def __init__(self) -> None:
        self._built: dict[int, Any] = {}
        self._open: set[int] = set()

    def build(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            read = _SCALARS.get(node.tag)
            try:
                return node.value if read is None else read(node.value)
            except ValueError:
                digits = len(node.value)
                problem = f"{node.value!r} is no number"
                if digits > _LONG:
                    problem = f"the number {node.value[:_LONG]}… has {digits} digits and is out of range"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark) from None
        known = id(node)
        if known in self._built:
            return self._built[known]
        if known in self._open:
            raise yaml.MarkedYAMLError(problem="an alias to what holds it", problem_mark=node.start_mark)
        self._open.add(known)
        value = self._mapping(node) if isinstance(node, yaml.MappingNode) else self._sequence(node)
        self._open.discard(known)
        self._built[known] = value
        return value

    def _sequence(self, node: yaml.Node) -> list[Any]:
        build = self.build
        return [build(item) for item in node.value]

    def _mapping(self, node: yaml.MappingNode) -> dict[str, Any]:
        merged: dict[str, Any] = {}
        own: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                for part in self._merged(value_node):
                    merged = {**part, **merged}
                continue
            key = key_node.value
            if not isinstance(key, str):
                raise yaml.MarkedYAMLError(problem="a key must be text", problem_mark=key_node.start_mark)
            if key in own:
                raise _RepeatedKey(
                    problem=f"key {key!r} stands twice in its map", problem_mark=key_node.start_mark
                )
            own[key] = self.build(value_node)
        return {**merged, **own} if merged else own

    def _merged(self, node: yaml.Node) -> list[dict[str, Any]]:
        value = self.build(node)
        parts = value if isinstance(value, list) else [value]
        if not all(isinstance(part, dict) for part in parts):
            raise yaml.MarkedYAMLError(problem="<< needs a map", problem_mark=node.start_mark)
        return parts
