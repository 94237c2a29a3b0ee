"""The pod or the group that a question is about, found by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.rules.composites import composites
from ...framework.rules.groups import groups
from ...framework.runs.explain import find_pod
from ...models.errors import KubestowError
from .reasons import Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...framework.index.cluster import Cluster
    from ...framework.rules.composites import Composite
    from ...framework.rules.groups import Group


def find_subject(cluster: Cluster, name: str) -> Subject:
    """Return the waiting pod or the group that a user means; of one name a pod before a group.

    Raises
    ------
    KubestowError
        Where it is neither, or where no member of the group waits.
    """
    here = {pod.key for pod in cluster.snapshot.pods} | {pod.name for pod in cluster.snapshot.pods}
    named = [group for group in groups(cluster) if name in (group.key, group.name)]
    trees = [item for root in composites(cluster) for item in root.inner() if name in (item.key, item.name)]
    if name not in here and not named and len(trees) == 1:
        return _tree(cluster, trees[0])
    if name in here or not named:
        i = find_pod(cluster, name)
        group = next((item for item in groups(cluster) if i in item.members), None)
        return Subject(cluster, f"Pod {cluster.pods[i].key}", (i,), group)
    if len(named) > 1:
        keys = ", ".join(group.key for group in named)
        raise KubestowError(f"{cluster.snapshot.name}: '{name}' is the name of {len(named)} groups: {keys}")
    return group_subject(cluster, named[0])


def group_subject(cluster: Cluster, group: Group) -> Subject:
    """Return the waiting members of a group.

    Raises
    ------
    KubestowError
        Where none waits.
    """
    waiting = _waiting(cluster, f"PodGroup {group.key}", group.members)
    return Subject(cluster, f"PodGroup {group.key}", waiting, group, whole=True)


def _tree(cluster: Cluster, tree: Composite) -> Subject:
    """Return all waiting pods below a CompositePodGroup."""
    leaves = tuple(tree.leaves())
    called = f"CompositePodGroup {tree.key}"
    waiting = _waiting(cluster, called, [i for group in leaves for i in group.members])
    return Subject(cluster, called, waiting, whole=True, leaves=leaves)


def _waiting(cluster: Cluster, called: str, members: Iterable[int]) -> tuple[int, ...]:
    pods = cluster.pods
    waiting = tuple(i for i in members if pods[i].initial_node < 0 and not pods[i].terminating)
    if not waiting:
        raise KubestowError(f"{cluster.snapshot.name}: no pod of {called} waits")
    return waiting
