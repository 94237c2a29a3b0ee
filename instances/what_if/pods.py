"""Pods that are gone at once, as `kubectl delete --grace-period=0 --force` leaves a cluster."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...models.leaving import fate_of, without_pods
from .references import find

if TYPE_CHECKING:
    from ...models.changes import Changed, DeletePod
    from ...models.pod import Pod


def delete(changed: Changed, change: DeletePod) -> Changed:
    """Take a pod away; one that has a controller is made again."""
    pod: Pod = find(changed.snapshot, change.pod, ("Pod",))
    fate, again = fate_of(pod), frozenset({pod.key})
    gone = frozenset[str]() if fate == "again" else again
    new = tuple(key for key in changed.new_pods if key not in gone)
    changed = replace(changed, snapshot=without_pods(changed.snapshot, gone, again - gone), new_pods=new)
    match fate:
        case "again":
            return replace(changed, made_again={**changed.made_again, pod.key: pod.spec.node_name or ""})
        case "lost":
            return replace(changed, lost=(*changed.lost, pod.key))
        case "removed":
            return replace(changed, removed=(*changed.removed, pod.key))
