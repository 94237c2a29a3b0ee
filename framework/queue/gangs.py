"""GangScheduling's PreEnqueue: members wait for their group's object, and for minCount of their kind.

Members of a tree of groups wait for the tree instead: no minCount keeps one of its groups out by itself.

Source: kube-scheduler 1.36 and later, plugins/gangscheduling.
"""

from collections.abc import Collection

from ...models.features import FeatureGates
from ...models.pod import Pod
from ...models.scheduling import GroupSpec, PodGroup, Workload
from ..events.objects import ObjectStore
from ..hints.group_trees import GroupTrees
from ..index.group_names import GroupName, group_name
from ..rules.groups import missing_of_group
from ..vocabulary.workload_cycles import WorkloadCycle


class Gangs:
    """The groups of a cluster that changes.

    Parameters
    ----------
    objects : ObjectStore
    gates : FeatureGates
    schedulers : collection of str
        The schedulerNames that have a profile.
    cycle : WorkloadCycle
        The text that says who makes up `minCount`.

    Attributes
    ----------
    enabled : bool
        Whether members wait at all.
    trees : GroupTrees
    """

    def __init__(
        self, objects: ObjectStore, gates: FeatureGates, schedulers: Collection[str], cycle: WorkloadCycle
    ) -> None:
        self._objects = objects
        self._schedulers = schedulers
        self._cycle = cycle
        self.trees = GroupTrees(objects, gates)
        self.enabled = gates.enabled("GenericWorkload") and gates.enabled("GangScheduling")

    def reason(self, pod: Pod) -> str:
        """Return what a pod waits for before it may be tried; empty for nothing."""
        name = group_name(pod)
        if not self.enabled or name is None:
            return ""
        if self.trees.is_part(name):
            return self.trees.waits(name)
        spec = self._spec(name)
        there = self._objects.get(Workload, f"{name.namespace}/{name.workload}") is not None
        gang = spec.scheduling_policy.gang if spec is not None else None
        known = sum(map(self._counts, self._objects.members(name)))
        least = gang.min_count if gang is not None else None
        return missing_of_group(name, exists=spec is not None, workload=there, least=least, known=known) or ""

    def _spec(self, name: GroupName) -> GroupSpec | None:
        if not name.workload:
            group = self._objects.get(PodGroup, name.key)
            return None if group is None else group.spec
        workload = self._objects.get(Workload, f"{name.namespace}/{name.workload}")
        templates = workload.spec.pod_group_templates if workload is not None else ()
        return next((template for template in templates if template.name == name.group), None)

    def _counts(self, pod: Pod) -> bool:
        return (
            not self._cycle.counts_schedulable
            or bool(pod.spec.node_name)
            or pod.spec.scheduler_name in self._schedulers
        )
