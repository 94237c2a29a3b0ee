"""Objects of a snapshot by names as kubectl takes them: `deploy/web`, `pod/shop/web-0`."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache
from typing import Any, Final, get_args, get_type_hints

from ...models.errors import KubestowError
from ...models.meta import KubeObject
from ...models.snapshot import Snapshot
from ...models.validation import title

_SHORT: Final = {
    "deploy": "Deployment",
    "ds": "DaemonSet",
    "no": "Node",
    "ns": "Namespace",
    "pc": "PriorityClass",
    "pdb": "PodDisruptionBudget",
    "po": "Pod",
    "pv": "PersistentVolume",
    "pvc": "PersistentVolumeClaim",
    "rc": "ReplicationController",
    "rs": "ReplicaSet",
    "sc": "StorageClass",
    "sts": "StatefulSet",
    "svc": "Service",
}
"""kubectl's short names (`kubectl api-resources`)."""


@cache
def _places() -> dict[str, tuple[type[KubeObject], str]]:
    """Return class and field of a snapshot by each name of a kind, in small letters."""
    hints = get_type_hints(Snapshot)
    found: dict[str, tuple[type[KubeObject], str]] = {}
    for item in fields(Snapshot):
        model = next(iter(get_args(hints[item.name])), None)
        if isinstance(model, type) and issubclass(model, KubeObject):
            kind = model.model_fields["kind"].default
            for name in (kind, item.name.replace("_", "")):
                found[name.lower()] = (model, item.name)
    return found | {short: found[kind.lower()] for short, kind in _SHORT.items() if kind.lower() in found}


def field_of(item: KubeObject) -> str:
    """Return the field of a snapshot that holds an object's kind."""
    return _places()[item.kind.lower()][1]


def find(snapshot: Snapshot, reference: str, kinds: tuple[str, ...] = ()) -> Any:
    """Return the object that a reference names.

    Without a namespace it is the only one of that name, else the one in `default`.

    Parameters
    ----------
    snapshot : Snapshot
    reference : str
        `KIND/NAME`, `KIND/NAMESPACE/NAME`, or `KIND NAMESPACE/NAME`.
    kinds : tuple of str
        Kinds that can be meant; all without them.

    Raises
    ------
    KubestowError
        Where there is none, or more than one.
    """
    kind, _, key = reference.strip().replace(" ", "/", 1).partition("/")
    place = _places().get(kind.lower())
    if place is None or not key.strip("/"):
        raise KubestowError(f"{reference!r} names no object; such as deploy/web or pod/shop/web-0 do")
    model, field = place
    own = model.model_fields["kind"].default
    if kinds and own not in kinds:
        raise KubestowError(f"{reference!r} must be a {' or '.join(kinds)}")
    items: tuple[KubeObject, ...] = getattr(snapshot, field)
    exact = "/" in key or not model.namespaced
    found = [item for item in items if (item.key if exact else item.name) == key]
    if len(found) > 1:
        found = [item for item in found if item.namespace == "default"] or found
    if not found:
        raise KubestowError(f"there is no {own} {key} in the input")
    if len(found) > 1:
        raise KubestowError(f"{reference!r} can be {' or '.join(title(item) for item in found)}")
    return found[0]


def with_object(snapshot: Snapshot, old: KubeObject, new: Any) -> Snapshot:
    """Return a snapshot with an object in another's place."""
    field = field_of(old)
    items = tuple(new if item is old else item for item in getattr(snapshot, field))
    update: Any = {field: items}
    return replace(snapshot, **update)
