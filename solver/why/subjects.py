"""The pod or the group that a question is about, found by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.groups import groups
from ...framework.runs.explain import find_pod
from ...models.errors import KubestowError
from .reasons import Subject

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster


def find_subject(cluster: Cluster, name: str) -> Subject:
    """Return the waiting pod or the group that a user means; a pod before a group of the same name.

    Raises
    ------
    KubestowError
        Where it is neither, or where no member of the group waits.
    """
    here = {pod.key for pod in cluster.snapshot.pods} | {pod.name for pod in cluster.snapshot.pods}
    named = [group for group in groups(cluster) if name in (group.key, group.name)]
    if name in here or not named:
        i = find_pod(cluster, name)
        group = next((item for item in groups(cluster) if i in item.members), None)
        return Subject(cluster, f"Pod {cluster.pods[i].key}", (i,), group)
    if len(named) > 1:
        keys = ", ".join(group.key for group in named)
        raise KubestowError(f"{cluster.snapshot.name}: '{name}' is the name of {len(named)} groups: {keys}")
    [group] = named
    waiting = tuple(i for i in group.members if cluster.pods[i].initial_node < 0)
    waiting = tuple(i for i in waiting if not cluster.pods[i].terminating)
    if not waiting:
        raise KubestowError(f"{cluster.snapshot.name}: no pod of PodGroup {group.key} waits")
    return Subject(cluster, f"PodGroup {group.key}", waiting, group, whole=True)
