"""A set of steps as changes that `kubestow what-if` reads, so that both mean the same round.

What steps do to fields of objects is made on the snapshot first, all of them; each object that differs then
is one JSON merge patch.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ...models.changes import ChangeSet, Patch
from ...models.meta import KubeObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...models.snapshot import Snapshot
    from .step import Step


def change_set_of(
    snapshot: Snapshot,
    steps: Iterable[Step],
    name: str,
    node_groups: tuple[Mapping[str, Any], ...] = (),
    title: str = "",
) -> ChangeSet:
    """Return steps as changes: patches first, then what is more than a field."""
    chosen = list(steps)
    changes = tuple(step.change for step in chosen if step.change is not None)
    adds_nodes = any("addNodes" in change.document() for change in changes)
    return ChangeSet(
        name=name,
        title=title,
        node_groups=node_groups if adds_nodes else (),
        changes=(*_patches(snapshot, changed_fields(snapshot, chosen)), *changes),
    )


def changed_fields(snapshot: Snapshot, steps: Sequence[Step]) -> Snapshot:
    """Return the snapshot in which the fields are changed that steps change."""
    for step in steps:
        if step.lift is not None:
            snapshot = step.lift(snapshot)
    return snapshot


def _patches(before: Snapshot, after: Snapshot) -> Iterator[Patch]:
    for field in fields(before):
        old, new = getattr(before, field.name), getattr(after, field.name)
        if old is new or not isinstance(old, tuple):
            continue
        for one, other in zip(old, new, strict=True):
            if one is not other and isinstance(one, KubeObject) and one != other:
                yield Patch(f"{one.kind}/{one.key}", difference(_raw(one), _raw(other)))


def _raw(item: KubeObject) -> dict[str, Any]:
    return item.model_dump(mode="json", by_alias=True, exclude_none=True)


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON merge patch (RFC 7386) that makes one object of another; lists change as a whole."""
    found: dict[str, Any] = {key: None for key in old if key not in new}
    for key, value in new.items():
        before = old.get(key)
        if value == before and key in old:
            continue
        if isinstance(value, dict) and isinstance(before, dict):
            found[key] = difference(before, value)
        else:
            found[key] = value
    return found
