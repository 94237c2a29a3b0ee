"""What a pod names as its group: a PodGroup, or a replica of a Workload's group (v1alpha1).

A group names its parent in the same way.

Sources: KEP-4671, KEP-5832, KEP-6012.
"""

from typing import NamedTuple

from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup, PodGroup


class GroupName(NamedTuple):
    """A PodGroup (`workload` is empty), or a replica of a Workload's group."""

    namespace: str
    workload: str
    group: str
    replica: str

    @property
    def name(self) -> str:
        """The name within the namespace."""
        return "/".join(part for part in (self.workload, self.group, self.replica) if part)

    @property
    def key(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


class TreeName(NamedTuple):
    """A tree of groups, by its root, a CompositePodGroup."""

    namespace: str
    name: str

    @property
    def key(self) -> str:
        """`namespace/name` of the root."""
        return f"{self.namespace}/{self.name}"


UnitName = GroupName | TreeName
"""What is scheduled as one: a group, or a tree of groups."""


def group_name(pod: Pod) -> GroupName | None:
    """Return the group that a pod names, None where it names none."""
    spec = pod.spec
    if spec.scheduling_group is not None and spec.scheduling_group.pod_group_name:
        return GroupName(pod.namespace, "", spec.scheduling_group.pod_group_name, "")
    if spec.workload_ref is not None:
        ref = spec.workload_ref
        return GroupName(pod.namespace, ref.name, ref.pod_group, ref.pod_group_replica_key)
    return None


def parent_of(item: PodGroup | CompositePodGroup) -> str:
    """Return the `namespace/name` of the parent that an object names, empty for none."""
    name = item.spec.parent_composite_pod_group_name
    return f"{item.namespace}/{name}" if name else ""
