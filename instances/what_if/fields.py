"""One object with other fields: a path and a value, or a JSON merge patch.

The object is read again as any input is, so what the API server would refuse is refused here, and a field
that the API does not have is an error, too.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ...models.admission import PriorityClasses, admit
from ...models.errors import KubestowError
from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup, PodGroup
from ...models.validation import check, read, title
from ..unknown_fields import unknown_fields
from .references import find, with_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.changes import Changed, Patch, SetField
    from ...models.meta import KubeObject

_PART: Final = re.compile(r"((?:\\.|[^.\[\]\\])+)((?:\[\d+\])*)(?:\.|$)")
_TEMPLATED: Final = ("ReplicaSet", "Deployment", "StatefulSet", "Job", "DaemonSet")


def path_of(text: str) -> list[str | int]:
    r"""Read a path: `spec.tolerations[0].key`; a dot within a name is `\.`.

    Raises
    ------
    KubestowError
        Where it is none.
    """
    path: list[str | int] = []
    at = 0
    while at < len(text):
        match = _PART.match(text, at)
        if match is None:
            break
        path.append(re.sub(r"\\(.)", r"\1", match[1]))
        path += [int(index) for index in re.findall(r"\d+", match[2])]
        at = match.end()
    if at < len(text) or not path or text.endswith("."):
        raise KubestowError(f"{text!r} is no field (such as spec.priority or spec.tolerations[0].key)")
    return path


def set_field(changed: Changed, change: SetField) -> Changed:
    """Give one field of an object a value."""
    old = find(changed.snapshot, change.target)
    raw = _raw(old)
    _put(raw, path_of(change.path), change.value, change.path)
    return _replaced(changed, old, raw)


def patch(changed: Changed, change: Patch) -> Changed:
    """Patch an object."""
    old = find(changed.snapshot, change.target)
    return _replaced(changed, old, _merged(_raw(old), change.merge))


def _raw(item: KubeObject) -> dict[str, Any]:
    """Return an object as it is written in a manifest."""
    return item.model_dump(mode="json", by_alias=True, exclude_none=True)


def _put(raw: Any, path: list[str | int], value: Any, told: str) -> None:
    """Put a value at a path, making maps on the way; null takes away what is there."""
    here = raw
    for step, after in itertools.pairwise(path):
        here = _child(here, step, [] if isinstance(after, int) else {}, told)
    last = path[-1]
    if isinstance(last, int):
        _child(here, last, None, told)
        if value is None:
            del here[last]
        else:
            here[last] = value
    elif not isinstance(here, dict):
        raise KubestowError(f"{told}: {last!r} is not below a map")
    elif value is None:
        here.pop(last, None)
    else:
        here[last] = value


def _child(here: Any, step: str | int, empty: Any, told: str) -> Any:
    if isinstance(step, int):
        if not isinstance(here, list) or step > len(here):
            raise KubestowError(f"{told}: there is no item [{step}]")
        if step == len(here):
            here.append(empty)
        return here[step]
    if not isinstance(here, dict):
        raise KubestowError(f"{told}: {step!r} is not below a map")
    if here.get(step) is None:
        here[step] = empty
    return here[step]


def _merged(raw: Any, merge: Any) -> Any:
    """Apply a JSON merge patch."""
    if not isinstance(merge, dict):
        return merge
    found = dict(raw) if isinstance(raw, dict) else {}
    for key, value in merge.items():
        if value is None:
            found.pop(key, None)
        else:
            found[key] = _merged(found.get(key), value)
    return found


def _replaced(changed: Changed, old: Any, raw: Mapping[str, Any]) -> Changed:
    """Put the object that a raw one says in another's place."""
    for unknown in unknown_fields(type(old), raw):
        hint = f"; did you mean {unknown.nearest}?" if unknown.nearest else ""
        raise KubestowError(f"{title(old)}: {unknown.path}: an unknown field{hint}")
    new = read(type(old), raw, "")
    if (new.kind, new.key) != (old.kind, old.key):
        raise KubestowError(f"{title(old)}: kind, name and namespace cannot change")
    check(new, "")
    if isinstance(new, (Pod, PodGroup, CompositePodGroup)):
        new = _admitted(changed, old, new)
    notes = list(changed.notes)
    if new == old:
        notes.append(f"{title(old)}: nothing that a round depends on is changed")
    elif old.kind in _TEMPLATED and new.spec.template != old.spec.template:
        notes.append(f"{title(old)}: the template holds for pods to come; those that are there keep theirs")
    return replace(
        changed, snapshot=with_object(changed.snapshot, old, new), notes=tuple(dict.fromkeys(notes))
    )


def _admitted(changed: Changed, old: Any, new: Any) -> Any:
    """Resolve the priority of a pod or group whose class has changed."""
    spec = new.spec
    if spec.priority_class_name != old.spec.priority_class_name:
        update = {
            field: None
            for field in ("priority", "preemption_policy")
            if getattr(spec, field) == getattr(old.spec, field)
        }
        new = new.model_copy(update={"spec": spec.model_copy(update=update)})
    return admit(new, PriorityClasses(changed.snapshot.priority_classes))
