"""Documents for programs: the contract's JSON, the same as YAML, and an earlier comparison read back."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
import yaml
from pydantic import ValidationError

from ..models.errors import InputError
from ..models.plan import Comparison


def as_json(document: Mapping[str, Any] | Sequence[Any], *, compact: bool = False) -> str:
    """Return a document as JSON: indented, or in one line where several documents follow each other."""
    option = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY
    option |= 0 if compact else orjson.OPT_INDENT_2
    # A number of an input that remembers its spelling is a number again.
    return orjson.dumps(document, default=float, option=option).decode()


def as_yaml(document: Mapping[str, Any] | Sequence[Any]) -> str:
    """Return a document as one YAML document of a stream."""
    plain = orjson.loads(as_json(document, compact=True))
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=110)
    return "---\n" + text


def read_document(file: str, data: bytes) -> dict[str, Any]:
    """Read a document that an earlier command wrote, in JSON or YAML.

    Raises
    ------
    InputError
        Where it is not one object.
    """
    try:
        document = _parsed(data)
    except orjson.JSONDecodeError as error:
        raise InputError(file, "", "", f"is not JSON: {error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        told = str(error).splitlines()
        raise InputError(file, "", "", f"is neither JSON nor YAML: {told[0] if told else error!r}") from None
    if not isinstance(document, dict):
        raise InputError(
            file, "", "", "is not one object, as `kubestow solve -o json` or `-o yaml` writes it"
        )
    return document


def _parsed(data: bytes) -> Any:
    if data.lstrip()[:1] in (b"{", b"["):
        return orjson.loads(data)
    return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def read_comparison(file: str) -> Comparison:
    """Read a document that `kubestow compare -o json` wrote earlier.

    Raises
    ------
    InputError
        When the file is not JSON or not such a document.
    """
    try:
        return Comparison.model_validate_json(Path(file).read_bytes())
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        raise InputError(
            file, "", field, f"no document of `kubestow compare -o json`: {fault['msg']}"
        ) from None
    except OSError as error:
        raise InputError(file, "", "", error.strerror or str(error)) from None
