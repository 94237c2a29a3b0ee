"""Pod groups by number: who belongs together, and under which rules.

A group comes into being by its pods.  From v1alpha2 on they name a PodGroup (`spec.schedulingGroup`); in
v1alpha1 they name a group of a Workload and a replica of it (`spec.workloadRef`): every replica is a group
of its own.  Where a pod has both, `schedulingGroup`, the later one, counts.

Which pods count and which rules members keep is a matter of the text of the workload cycle (`WorkloadCycle`):
that of the profile of the first waiting member. A PodGroup that names a parent is part of a tree
(`hierarchy`): then the whole tree waits, or none of its members does.

Sources: KEP-4671, KEP-5832, KEP-5732, KEP-5710, KEP-6012; kube-scheduler plugins/gangscheduling (PreEnqueue),
1.35 and later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from ...models.scheduling import GroupSpec, PodGroupSpec, TopologyConstraint
from ..index.group_names import GroupName, group_name
from ..index.queue_order import queue_key
from ..vocabulary.workload_cycles import V1_37, WorkloadCycle
from .hierarchy import hierarchy

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..index.podinfo import PodInfo
    from ..state.state import State

TOO_FEW: Final = "waiting for minCount pods from a gang to appear in scheduling queue"
OFF_KEY: Final = -1
"""Where a node without the label is, among the domains of `pinned_domains`."""

# Versions in which all pods of a group must have the group's priority (KEP-5710, beta).
_ONE_PRIORITY: Final = frozenset({"scheduling.k8s.io/v1alpha3", "scheduling.k8s.io/v1beta1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Pods that are placed as one.

    Attributes
    ----------
    index : int
        Its place in `groups`.
    key : str
        `namespace/name` of the PodGroup; in v1alpha1 `namespace/workload/podGroup` with `/replicaKey` where
        there is one.
    name : str
        The key without the namespace.
    namespace : str
    members : tuple of int
        Every pod that names the group, in input order; also those that wait for another scheduler.
    running : tuple of int
        Members on nodes in the input, terminating ones too: upstream counts them until they are gone.
    pending : tuple of int
        Members in the active queue, in its order.
    deleted : tuple of int
        Members that wait in the queue while they are being deleted, in its order.
    gated : tuple of int
        Members with scheduling gates.
    known : tuple of int
        Members that count for `min_count` before anybody is tried.
    min_count : int or None
        How many members, running ones included, must be placed for one to be placed; None without a gang.
    desired_count : int or None
        How many members the basic policy expects in the end.
    topology_keys : tuple of str
        Node labels: all members, running ones included, are in one domain of each.
    preferred_keys : tuple of str
        The same as a wish.
    waits : str or None
        Upstream's text, where no member can be placed whatever the cluster looks like.
    enqueued : bool
        Whether PreEnqueue lets the members into the active queue; with `waits` their cycle ends in an error.
    evicted_whole : bool
        Whether running members may only be evicted all together (disruptionMode `all`).
    unit : tuple of int
        Running members that the group's own mode evicts all together or not at all: those that do not
        terminate in the input. Empty where each may be evicted by itself (`eviction_units.units` says which
        units there are: a group of groups takes those of the groups below it).
    priority : int or None
        The group's own priority, None where it states none.
    cycle : WorkloadCycle
        The text by which it is scheduled.
    parent : str
        Name of the CompositePodGroup that the group is a child of; empty for none, and where the scheduler
        overlooks such parents.
    """

    index: int
    key: str
    name: str
    namespace: str
    members: tuple[int, ...]
    running: tuple[int, ...]
    pending: tuple[int, ...]
    deleted: tuple[int, ...]
    gated: tuple[int, ...]
    known: tuple[int, ...]
    min_count: int | None
    desired_count: int | None
    topology_keys: tuple[str, ...]
    preferred_keys: tuple[str, ...]
    waits: str | None
    enqueued: bool
    evicted_whole: bool
    unit: tuple[int, ...]
    priority: int | None
    cycle: WorkloadCycle
    parent: str

    @property
    def quorum(self) -> int:
        """How many members must be placed for the group to hold: `min_count`, 1 without a gang."""
        return self.min_count or 1

    @property
    def constrained(self) -> bool:
        """Whether the group asks for anything at all: to start together, or to be in one domain."""
        return self.min_count is not None or bool(self.topology_keys)


class _Rules(NamedTuple):
    """What the object says that a reference names."""

    spec: GroupSpec
    version: str


def groups(cluster: "Cluster") -> tuple[Group, ...]:
    """Return the groups of a cluster in the order of their first members; empty with GenericWorkload off."""
    return cluster.memo("groups", partial(_read, cluster))


def group_of(cluster: "Cluster", i: int) -> Group | None:
    """Return the group that pod i names, None where it names none."""
    number = cluster.memo("group of pod", partial(_by_member, cluster)).get(i)
    return None if number is None else groups(cluster)[number]


def pinned_domains(cluster: "Cluster", state: "State", group: Group, key: str) -> frozenset[int]:
    """Return the domains of a key in which members stand in a state, `OFF_KEY` for nodes without the label.

    Empty: nothing is decided.  One domain: all further members go there.  More than one, or `OFF_KEY`: no
    further member is placed.
    """
    ids = cluster.domains(key).ids
    return frozenset(int(ids[n]) for n in (state.node_of[i] for i in group.members) if n >= 0)


def required_keys(cluster: "Cluster", spec: GroupSpec) -> tuple[str, ...]:
    """Return the topology keys that a group requires, as far as the gates honour them."""
    return _keys(_topology(cluster, spec), "Required")


def _by_member(cluster: "Cluster") -> dict[int, int]:
    return {i: group.index for group in groups(cluster) for i in group.members}


def _read(cluster: "Cluster") -> tuple[Group, ...]:
    if not cluster.gates.enabled("GenericWorkload"):
        return ()
    members: dict[GroupName, list[int]] = {}
    for info in cluster.pods:
        reference = group_name(info.pod)
        if reference is not None:
            members.setdefault(reference, []).append(info.index)
    if not members:
        return ()
    pod_groups = {item.key: _Rules(item.spec, item.api_version) for item in cluster.snapshot.pod_groups}
    templates = {
        (item.namespace, item.name, template.name): _Rules(template, item.api_version)
        for item in cluster.snapshot.workloads
        for template in item.spec.pod_group_templates
    }
    places = {i: place for place, i in enumerate(cluster.pending)}
    gated = frozenset(cluster.gated)
    trees = _Trees(cluster, members)
    found: list[Group] = []
    for reference, pods in members.items():
        if reference.workload:
            rules = templates.get((reference.namespace, reference.workload, reference.group))
        else:
            rules = pod_groups.get(f"{reference.namespace}/{reference.group}")
        queued = sorted((i for i in pods if i in places), key=places.__getitem__)
        spec = GroupSpec() if rules is None else rules.spec
        min_count, desired_count = _policy(cluster, spec)
        topology = _topology(cluster, spec)
        running = tuple(i for i in pods if cluster.pods[i].initial_node >= 0)
        whole = is_evicted_whole(cluster, spec)
        cycle = _cycle_of(cluster, queued or pods)
        deleted = _deleted(cluster, pods) if cycle.deleted_lead else []
        known = [i for i in pods if _is_schedulable(cluster, i)] if cycle.counts_schedulable else pods
        missing = _waits(cluster, reference, rules, min_count, len(known), trees)
        popped = sorted((*queued, *deleted), key=lambda i: (*queue_key(cluster.pods[i]), i))
        waits = missing or trees.at_odds(reference)
        if waits is None:
            waits = _at_odds(reference, rules, [cluster.pods[i] for i in popped], cycle)
        found.append(
            Group(
                index=len(found),
                key=reference.key,
                name=reference.name,
                namespace=reference.namespace,
                members=tuple(pods),
                running=running,
                pending=tuple(queued),
                deleted=tuple(deleted),
                gated=tuple(i for i in pods if i in gated),
                known=tuple(known),
                min_count=min_count,
                desired_count=desired_count,
                topology_keys=_keys(topology, "Required"),
                preferred_keys=_keys(topology, "Preferred"),
                waits=waits,
                enqueued=missing is None,
                evicted_whole=whole,
                unit=tuple(i for i in running if whole and not cluster.pods[i].terminating),
                priority=spec.priority,
                cycle=cycle,
                parent=trees.parent(spec),
            )
        )
    return tuple(found)


def _cycle_of(cluster: "Cluster", pods: Sequence[int]) -> WorkloadCycle:
    """Return the text of the workload cycle of the first pod whose schedulerName has a profile."""
    profiles = (cluster.profiles.get(cluster.pods[i].scheduler) for i in pods)
    return next((p.workload_cycle for p in profiles if p is not None), cluster.release.workload_cycle)


def _deleted(cluster: "Cluster", pods: Sequence[int]) -> list[int]:
    """Return the pods that wait in the queue while they are being deleted, in its order."""
    infos = [cluster.pods[i] for i in pods]
    waiting = [
        info
        for info in infos
        if info.terminating
        and info.initial_node < 0
        and info.scheduler in cluster.profiles
        and not info.pod.spec.scheduling_gates
    ]
    return [info.index for info in sorted(waiting, key=queue_key)]


def _is_schedulable(cluster: "Cluster", i: int) -> bool:
    """Whether pod i is on a node, or waits for a scheduler that has a profile."""
    info = cluster.pods[i]
    return info.initial_node >= 0 or info.scheduler in cluster.profiles


def _policy(cluster: "Cluster", spec: GroupSpec) -> tuple[int | None, int | None]:
    """Return minCount and desiredCount, as far as the gates honour them."""
    policy = spec.scheduling_policy
    if policy.gang is not None:
        return (policy.gang.min_count if cluster.gates.enabled("GangScheduling") else None), None
    if policy.basic is not None and cluster.gates.enabled("WorkloadBasicPolicyDesiredCount"):
        return None, policy.basic.desired_count
    return None, None


def _topology(cluster: "Cluster", spec: GroupSpec) -> Sequence[TopologyConstraint]:
    if not cluster.gates.enabled("TopologyAwareWorkloadScheduling"):
        return ()
    return spec.scheduling_constraints.topology


def is_evicted_whole(cluster: "Cluster", spec: GroupSpec) -> bool:
    """Whether running members may only be evicted all together (KEP-5710), as far as its gate is on."""
    return spec.disruption_mode == "all" and cluster.gates.enabled("WorkloadAwarePreemption")


def _keys(topology: Sequence[TopologyConstraint], mode: Literal["Required", "Preferred"]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.key for item in topology if item.mode == mode))


class _Trees:
    """What the members of trees have in common."""

    def __init__(self, cluster: "Cluster", members: Mapping[GroupName, Sequence[int]]) -> None:
        self._hierarchy = hierarchy(cluster)
        self._known = {r.key: len(pods) for r, pods in members.items() if not r.workload}
        self._queued: dict[str, list[PodInfo]] = {}
        self._at_odds: dict[str, str | None] = {}
        for i in cluster.pending if self._hierarchy is not None else ():
            reference = group_name(cluster.pods[i].pod)
            root = self._root(reference) if reference is not None else ""
            if root:
                self._queued.setdefault(root, []).append(cluster.pods[i])

    def parent(self, spec: GroupSpec) -> str:
        """Return the name of a group's parent."""
        if self._hierarchy is None or not isinstance(spec, PodGroupSpec):
            return ""
        return spec.parent_composite_pod_group_name or ""

    def waits(self, reference: GroupName) -> str | None:
        """Say what the tree of a PodGroup waits for."""
        assert self._hierarchy is not None  # only a tree's PodGroup has a parent
        return self._hierarchy.waits(reference.key, self._known)

    def at_odds(self, reference: GroupName) -> str | None:
        """Say why a tree's cycle ends in an error: all its groups and pods have one priority."""
        root = self._root(reference)
        if self._hierarchy is None or root not in self._queued:
            return None
        if root not in self._at_odds:
            version = self._hierarchy.composites[root].api_version
            rules = [_Rules(self._hierarchy.spec(node), version) for node in self._hierarchy.below(root)]
            found = (_at_odds(reference, each, self._queued[root], V1_37) for each in rules)
            self._at_odds[root] = next((text for text in found if text is not None), None)
        return self._at_odds[root]

    def _root(self, reference: GroupName) -> str:
        if self._hierarchy is None or reference.workload:
            return ""
        path = self._hierarchy.path(reference.key)
        return path[-1] if path and path[-1] in self._hierarchy.composites else ""


def _waits(
    cluster: "Cluster",
    reference: GroupName,
    rules: _Rules | None,
    min_count: int | None,
    known: int,
    trees: _Trees,
) -> str | None:
    """Return what GangScheduling's PreEnqueue waits for: the object, its tree, or enough pods."""
    if not cluster.gates.enabled("GangScheduling"):
        return None
    if rules is not None and trees.parent(rules.spec):
        return trees.waits(reference)
    name = f"{reference.namespace}/{reference.workload}"
    there = any(item.key == name for item in cluster.snapshot.workloads)
    return missing_of_group(reference, exists=rules is not None, workload=there, least=min_count, known=known)


def missing_of_group(
    name: GroupName, *, exists: bool, workload: bool, least: int | None, known: int
) -> str | None:
    """Say what a group's pods wait for before they may be tried, in upstream's words; None for nothing.

    Parameters
    ----------
    name : GroupName
    exists, workload : bool
        Whether the group is described, and whether its Workload (v1alpha1) is there.
    least : int or None
        The group's `minCount`, None without a gang.
    known : int
        The pods that count for it.
    """
    if not exists:
        if not name.workload:
            return f'waiting for pod\'s pod group "{name.group}" to appear in scheduling queue'
        if workload:
            return f'pod group "{name.group}" doesn\'t exist for a workload "{name.workload}"'
        return f'waiting for pods\'s workload "{name.workload}" to appear in scheduling queue'
    return TOO_FEW if least is not None and known < least else None


def _at_odds(
    reference: GroupName, rules: _Rules | None, pods: Sequence["PodInfo"], cycle: WorkloadCycle
) -> str | None:
    """Say why a group's cycle ends in an error: its queued pods differ where they must not.

    v1alpha1 has no cycle for a group, and no such rule. A group that states no priority takes that of its
    pods.
    """
    if rules is None or reference.workload or not pods:
        return None
    name = pods[0].scheduler
    other = next((info.scheduler for info in pods if info.scheduler != name), None)
    if other is not None:
        return (
            "all pods in a single pod group should have the same .spec.schedulerName set, "
            f'got: "{other}" and "{name}"'
        )
    if not cycle.one_priority or rules.version not in _ONE_PRIORITY:
        return None
    own = rules.spec.priority
    priority = pods[0].priority if own is None else own
    differing = next((info.priority for info in pods if info.priority != priority), None)
    if differing is not None:
        return (
            "all pods in a single pod group should match the priority of the pod group, "
            f"got: {differing} and {priority}"
        )
    return None
