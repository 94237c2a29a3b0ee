"""From raw objects to models, with pydantic's complaints told as one line in the API's spelling."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ..base import Kept
from ..config import KubeSchedulerConfiguration
from ..errors import InputError
from ..meta import KubeObject
from .faults import below, one_of

AnyObject = KubeObject | KubeSchedulerConfiguration
T = TypeVar("T", bound=AnyObject)

_EXPECTED = {
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "string_type": "must be text (in quotes)",
    "tuple_type": "must be a list",
    "dict_type": "must be a map",
    "model_type": "must be a map",
    "model_attributes_type": "must be a map",
}


def describe(raw: Mapping[str, Any], namespaced: bool = True) -> str:
    """Return kind and key of an object that is not read yet."""
    kind = str(raw.get("kind", ""))
    meta = raw.get("metadata")
    if not isinstance(meta, Mapping):
        return kind
    name = str(meta.get("name") or "")
    return f"{kind} {meta.get('namespace') or 'default'}/{name}" if namespaced else f"{kind} {name}"


def _path(location: tuple[int | str, ...]) -> str:
    path = ""
    for part in location:
        path = f"{path}[{part}]" if isinstance(part, int) else below(path, part)
    return path


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _words(error: ErrorDetails) -> str:
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "required"
    if kind == "literal_error":
        options = re.findall(r"'([^']+)'", str(context["expected"]).replace("''", ""))
        return f"must be {one_of(options)}, not {_short(value)}"
    if kind == "value_error":
        return str(context["error"])
    if kind in ("too_short", "string_too_short") and context["min_length"] == 1:
        return "must not be empty"
    if kind == "greater_than":
        return f"must be more than {context['gt']:g}, not {_short(value)}"
    if kind in ("greater_than_equal", "less_than_equal"):
        return f"{_short(value)} is out of range"
    if kind in _EXPECTED:
        return f"{_EXPECTED[kind]}, not {_short(value)}"
    return error["msg"]


def first_fault(invalid: ValidationError) -> tuple[str, str]:
    """Return the path of the first field that is wrong, and what is wrong with it."""
    error = invalid.errors(include_url=False)[0]
    return _path(error["loc"]), _words(error)


_EXACTLY = re.compile(r"(\.requests\[\d+\])\.exactly\b")
_DEVICE = re.compile(r"(\.devices\[\d+\])\.(?!name\b)")


def respell(item: AnyObject, field: str) -> str:
    """Return a field's path as the object's own version spells it.

    Objects are kept in one shape for all versions; an error is to name what stands in the file.
    """
    version = item.api_version.rpartition("/")[2]
    return _respell(item.kind, version, field)


def _respell(kind: str, version: str, field: str) -> str:
    if version in ("v1beta1", "v1alpha3") and kind in ("ResourceClaim", "ResourceClaimTemplate"):
        return _EXACTLY.sub(r"\1", field)
    if version in ("v1beta1", "v1alpha3") and kind == "ResourceSlice":
        return _DEVICE.sub(r"\1.basic.", field)
    if version == "v1alpha1" and kind == "Workload":
        return field.replace("podGroupTemplates", "podGroups").replace("schedulingPolicy", "policy")
    return field


def read(model: type[T], raw: Mapping[str, Any], file: str, kept: Kept | None = None) -> T:
    """Make a model of a raw object.

    Parameters
    ----------
    kept : dict, optional
        What the reading of other objects has made, of which this one takes what is equal.

    Raises
    ------
    InputError
        If a field has the wrong type, an unknown value or is missing.
    """
    try:
        return cast("T", model.model_validate(raw, context=kept))
    except ValidationError as invalid:
        place, words = first_fault(invalid)
        namespaced = issubclass(model, KubeObject) and model.namespaced
        version = str(raw.get("apiVersion", "")).rpartition("/")[2]
        field = _respell(str(raw.get("kind", "")), version, place)
        raise InputError(file, describe(raw, namespaced), field, words) from None
