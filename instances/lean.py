"""Objects without the fields that no model reads: most of what an API server sends.

What is unknown to the models' release of Kubernetes stays, so that the reader can still tell of it. Of what
is behind a volume only the field's name is read, and only that stays.
"""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from ..models.annotations import READ_ANNOTATIONS
from ..models.meta import ObjectMeta
from ..models.storage import PersistentVolumeSpec
from ..models.upstream_fields import UNREAD_FIELDS
from ..models.volumes import Volume
from .unknown_fields import Shape, shape_of

# Fields of earlier versions that models read although they keep nothing under that name.
_READ_EARLY: Final[Mapping[str, frozenset[str]]] = {
    "Device": frozenset(("basic",)),
    "DeviceRequest": UNREAD_FIELDS["DeviceRequest"],
    "PodGroupSpec": UNREAD_FIELDS["PodGroupSpec"],
    "CompositePodGroupSpec": UNREAD_FIELDS["CompositePodGroupSpec"],
    "ObjectMeta": frozenset(("generateName",)),
}
_UNREAD: Final = {name: fields - _READ_EARLY.get(name, frozenset()) for name, fields in UNREAD_FIELDS.items()}
_SOURCES: Final = (Volume, PersistentVolumeSpec)


def lean(model: type[BaseModel], raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is left of a raw object that a model reads; the object itself stays as it is."""
    return _lean(shape_of(model), raw)


def _lean(shape: Shape, raw: Mapping[str, Any]) -> dict[str, Any]:
    unread = _UNREAD.get(shape.model.__name__, frozenset())
    sources = shape.model in _SOURCES
    kept: dict[str, Any] = {}
    for field, value in raw.items():
        if field in unread:
            if sources and value is not None:
                kept[field] = {}
            continue
        part = shape.parts.get(field)
        if part is not None:
            value = _lean_part(part.shape, value, part.is_map)
        elif field == "annotations" and shape.model is ObjectMeta and isinstance(value, dict):
            value = {key: text for key, text in value.items() if key in READ_ANNOTATIONS}
        kept[field] = value
    return kept


def _lean_part(shape: Shape, value: Any, is_map: bool) -> Any:
    if isinstance(value, list):
        return [_lean(shape, item) if isinstance(item, dict) else item for item in value]
    if not isinstance(value, dict):
        return value
    if is_map:
        return {key: _lean(shape, item) if isinstance(item, dict) else item for key, item in value.items()}
    return _lean(shape, value)
