"""A walk through a raw object, as its model reads it."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, NamedTuple

from pydantic import BaseModel

from ...models.config import ARGUMENTS, PluginConfig
from ...models.resource_api import Device, DeviceCapacity, ResourceClaim, ResourceClaimTemplate
from ...models.resource_v1beta1 import is_v1beta1, lower_flat_requests
from ...models.scheduling import PodGroupSpec
from ...models.storage import PersistentVolumeSpec
from ...models.volumes import VOLUME_SOURCES, Volume
from ..unknown_fields import Part, shape_of, spellings
from .roles import DROP, NAMES_OF_THEIR_OWN, holds_text, role_of
from .texts import Texts

_DEVICES: Final = "resource.k8s.io/v1"
_SOURCES: Final = (Volume, PersistentVolumeSpec)
_NUMERIC: Final = ("Gt", "Lt")


class _Field(NamedTuple):
    """How a field is handled: by its role, if it holds text, and as a part, if it holds parts."""

    role: str | None
    part: Part | None
    text: bool


def rewritten(texts: Texts, model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a raw object with other texts; what its model does not read is left out."""
    kind = str(raw.get("kind"))
    meta = raw.get("metadata")
    name = meta.get("name") if isinstance(meta, dict) else None
    written = _part(texts, model, _current(model, raw))
    own = NAMES_OF_THEIR_OWN.get(kind)
    if own is not None and isinstance(name, str):
        written["metadata"]["name"] = texts.rewritten(own, name)
    return written


def _current(model: type[BaseModel], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a claim, or a template of claims, of an early version as it is in the current one."""
    if model not in (ResourceClaim, ResourceClaimTemplate) or not is_v1beta1(raw):
        return raw
    spec = raw.get("spec")
    if model is ResourceClaim:
        spec = lower_flat_requests(spec)
    elif isinstance(spec, dict):
        spec = {**spec, "spec": lower_flat_requests(spec.get("spec"))}
    return {**raw, "apiVersion": _DEVICES, "spec": spec}


def _part(texts: Texts, model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    raw = _lifted(model, raw)
    fields = _fields(model)
    written: dict[str, Any] = {}
    for name, value in raw.items():
        field = fields.get(name)
        if field is None:
            if model in _SOURCES and name in VOLUME_SOURCES and value is not None:
                written[name] = {}
            continue
        new = (
            _pair(texts, raw, name, value)
            if field.role in ("values", "tolerated")
            else _new(texts, field, value)
        )
        if new is not None:
            written[name] = new
    if model is PluginConfig:
        arguments = ARGUMENTS.get(str(raw.get("name")))
        given = raw.get("args")
        written.pop("args", None)
        if arguments is not None and isinstance(given, dict):
            written["args"] = _part(texts, arguments, given)
    return written


def _lifted(model: type[BaseModel], raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part with what earlier versions have elsewhere in its current place."""
    if model is Device and isinstance(basic := raw.get("basic"), dict):
        return {**raw, **basic}
    if issubclass(model, PodGroupSpec) and isinstance(early := raw.get("podGroupTemplateRef"), dict):
        return {"workloadRef": early.get("workload", early), **raw}
    return raw


def _new(texts: Texts, field: _Field, value: Any) -> Any:
    if field.role == DROP:
        return None
    if field.part is None:
        if field.role is not None:
            return texts.rewritten(field.role, value)
        return None if field.text else value
    model = field.part.shape.model
    if isinstance(value, list):
        return [_item(texts, model, item) for item in value]
    if not isinstance(value, dict):
        return value if model is DeviceCapacity or not isinstance(value, str) else None
    if field.part.is_map:
        items = {key: _item(texts, model, item) for key, item in value.items()}
        return items if field.role is None else texts.rewritten(field.role, items)
    return _part(texts, model, value)


def _item(texts: Texts, model: type[BaseModel], item: Any) -> Any:
    if isinstance(item, dict):
        return _part(texts, model, item)
    return item if model is DeviceCapacity or not isinstance(item, str) else None


def _pair(texts: Texts, raw: Mapping[str, Any], name: str, value: Any) -> Any:
    """Return the new value, or values, that stand beside the key of a label or taint."""
    key = str(raw.get("key", ""))
    if raw.get("operator") in _NUMERIC:
        texts.numeric.add(key)
    if key == "metadata.name":
        return texts.rewritten("node", value)
    if isinstance(value, list):
        return [texts.value(key, item) for item in value]
    return texts.value(key, value)


@cache
def _fields(model: type[BaseModel]) -> dict[str, _Field]:
    """Return how each field of a model is handled, by every name that it has or had."""
    parts = shape_of(model).parts
    return {
        spelled: _Field(role_of(model, names[0]), parts.get(spelled), holds_text(annotation))
        for names, annotation in fields_of(model)
        for spelled in names
    }


def fields_of(model: type[BaseModel]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the names of each field of a model, the current one first, and its type."""
    for name, field in model.model_fields.items():
        yield tuple(spellings(name, field)), field.annotation
