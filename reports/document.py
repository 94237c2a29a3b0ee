"""Documents for programs: the contract's JSON, and the same as YAML."""

from collections.abc import Mapping
from typing import Any

import orjson
import yaml


def as_json(document: Mapping[str, Any], *, compact: bool = False) -> str:
    """Return a document as JSON: indented, or in one line where several documents follow each other."""
    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    return orjson.dumps(document, option=option | (0 if compact else orjson.OPT_INDENT_2)).decode()


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a document as one YAML document of a stream."""
    text: str = yaml.safe_dump(dict(document), sort_keys=False, allow_unicode=True, width=110)
    return "---\n" + text
