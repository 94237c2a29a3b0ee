"""Trees of groups by their objects alone: who is whose child, which tree is ready, and which is none at all.

A PodGroup or a CompositePodGroup names its parent; inner nodes are CompositePodGroups, leaves are PodGroups.
A scheduler that serves no CompositePodGroups overlooks the parents: every PodGroup is a group of its own.

A tree is ready where enough children of its root are: a gang with `minCount` pods that name it, in whatever
state, a PodGroup without a gang always, a CompositePodGroup with `minGroupCount` ready children, 1 without a
gang. A layout that the API server cannot prevent is never scheduled: parents in a circle, too many levels,
several Workloads.

Sources: KEP-6012, "GangScheduling Plugin Changes" (PreEnqueue) and "Group hierarchy"; kube-scheduler
plugins/gangscheduling (1.37).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from ...models.features import SINCE, FeatureGates
from ...models.scheduling import CompositePodGroup, PodGroup, PodGroupSpec
from ...models.snapshot import Snapshot
from ...models.validation.scheduling import MOST_LEVELS
from ..index.group_names import parent_of

if TYPE_CHECKING:
    from ..index.cluster import Cluster


_GATE: Final = "CompositePodGroup"
QUORUM: Final = "tree to meet quorum"
"""How upstream's text ends where a tree lacks groups, or one that it refers to."""


class Child(NamedTuple):
    """A node of a tree: the key of a CompositePodGroup, or of a PodGroup."""

    composite: bool
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """The trees of a cluster.

    Attributes
    ----------
    composites : mapping
        `namespace/name` to CompositePodGroup.
    pod_groups : mapping
        `namespace/name` to PodGroup.
    children : mapping
        CompositePodGroup to its children in the order in which they are tried: by creation, then by name.
    """

    composites: Mapping[str, CompositePodGroup]
    pod_groups: Mapping[str, PodGroup]
    children: Mapping[str, tuple[Child, ...]]

    def path(self, key: str) -> list[str]:
        """Return the CompositePodGroups above a PodGroup, the root last; up to one that is there already.

        A parent that does not exist ends the path, itself on it.
        """
        group = self.pod_groups.get(key)
        return self.path_from(parent_of(group)) if group is not None else []

    def path_from(self, above: str) -> list[str]:
        """Return a CompositePodGroup and those above it, as `path` does; nothing for no name."""
        found: list[str] = []
        while above and above not in found:
            found.append(above)
            item = self.composites.get(above)
            above = parent_of(item) if item is not None else ""
        return found

    def complete(self, path: list[str]) -> bool:
        """Whether a path ends at a root: every parent exists, and none comes twice."""
        return path[-1] in self.composites and not parent_of(self.composites[path[-1]])

    def waits(self, key: str, known: Mapping[str, int]) -> str | None:
        """Say what a PodGroup with a parent waits for; None where its tree may be tried.

        Parameters
        ----------
        key : str
        known : mapping
            PodGroup to the pods that name it.
        """
        path = self.path(key)
        missing = next((above for above in path if above not in self.composites), None)
        if missing is not None:
            return _unready(missing)
        root = path[-1]
        fault = self._circle(path) or self._fault(root)
        if fault:
            return f"invalid pod group hierarchy: {fault}"
        return None if self._ready(Child(True, root), known) else _unready(root)

    def _circle(self, path: list[str]) -> str:
        again = parent_of(self.composites[path[-1]])
        return f"the parents of composite pod group {_quoted(again)} form a circle" if again else ""

    def _fault(self, root: str) -> str:
        """Say what is wrong with the layout below a root, empty for nothing."""
        if self.is_too_deep(root):
            return f"composite pod group {_quoted(root)} has more than {MOST_LEVELS} levels"
        references = (self.spec(node).workload_ref for node in self.below(root))
        workloads = {reference.workload_name for reference in references if reference is not None}
        if len(workloads) > 1:
            names = ", ".join(f'"{name}"' for name in sorted(workloads))
            return f"composite pod group {_quoted(root)} refers to several workloads: {names}"
        return ""

    def is_too_deep(self, root: str) -> bool:
        """Whether a tree has more levels than one may have."""
        level = [Child(True, root)]
        for _ in range(MOST_LEVELS):
            level = [child for node in level if node.composite for child in self.children.get(node.key, ())]
        return bool(level)

    def below(self, key: str) -> list[Child]:
        """Return the root of a valid tree and all nodes below it, parents before children."""
        found = [Child(True, key)]
        for node in found:
            found += self.children.get(node.key, ()) if node.composite else ()
        return found

    def spec(self, node: Child) -> PodGroupSpec:
        """Return what the object of a node says."""
        return (self.composites[node.key] if node.composite else self.pod_groups[node.key]).spec

    def _ready(self, node: Child, known: Mapping[str, int]) -> bool:
        if not node.composite:
            gang = self.pod_groups[node.key].spec.scheduling_policy.gang
            return gang is None or known.get(node.key, 0) >= (gang.min_count or 1)
        ready = sum(self._ready(child, known) for child in self.children.get(node.key, ()))
        return ready >= groups_needed(self.composites[node.key].spec)


def groups_needed(spec: PodGroupSpec) -> int:
    """Return how many children of a CompositePodGroup must stand: `minGroupCount`, 1 without a gang."""
    gang = spec.scheduling_policy.gang
    return 1 if gang is None else gang.min_group_count or 1


def knows_trees(gates: FeatureGates) -> bool:
    """Whether a scheduler with the gates of its release knows trees."""
    return all(gates.enabled(gate) for gate in (_GATE, "GangScheduling"))


def hierarchy(cluster: "Cluster") -> Hierarchy | None:
    """Return the trees of a cluster; None where its scheduler overlooks them."""
    if not knows_trees(cluster.gates):
        return None
    return cluster.memo("group hierarchy", partial(_read, cluster))


def overlooked_parents(snapshot: Snapshot) -> list[str]:
    """Return a line where PodGroups name parents that the release does not serve."""
    parts = sum(bool(parent_of(item)) for item in snapshot.pod_groups)
    if not parts or FeatureGates().known_to(snapshot.kube_version).enabled(_GATE):
        return []
    whose = "1 PodGroup is" if parts == 1 else f"{parts} PodGroups are"
    return [
        f"kube-scheduler {snapshot.kube_version} knows no CompositePodGroups: {whose} scheduled without the "
        f"parent; trees of groups need --kube-version {SINCE[_GATE]}"
    ]


def _read(cluster: "Cluster") -> Hierarchy:
    composites = {item.key: item for item in cluster.snapshot.composite_pod_groups}
    pod_groups = {item.key: item for item in cluster.snapshot.pod_groups}
    below: dict[str, list[CompositePodGroup | PodGroup]] = {}
    every: list[CompositePodGroup | PodGroup] = [*composites.values(), *pod_groups.values()]
    for item in every:
        below.setdefault(parent_of(item), []).append(item)
    below.pop("", None)
    children = {parent: in_order(found) for parent, found in below.items()}
    return Hierarchy(composites, pod_groups, children)


def in_order(items: Iterable[PodGroup | CompositePodGroup]) -> tuple[Child, ...]:
    """Return the children of one parent in the order in which they are tried: by creation, then by name."""
    return tuple(Child(isinstance(item, CompositePodGroup), item.key) for item in sorted(items, key=_order))


def _order(item: CompositePodGroup | PodGroup) -> tuple[bool, float, str]:
    created = item.metadata.creation_timestamp
    return created is not None, created.timestamp() if created is not None else 0.0, item.name


def _unready(key: str) -> str:
    return f"waiting for composite pod group {_quoted(key)} {QUORUM}"


def _quoted(key: str) -> str:
    return f'"{key.partition("/")[2]}"'
