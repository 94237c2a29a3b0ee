"""The objects of a cluster as they are now: what the scheduler's listers would return.

A `Snapshot` is one instant; this is the other thing, a store that follows a cluster through time.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, TypeVar, cast

from ...models.meta import KubeObject
from ...models.pod import Pod
from ...models.scheduling import CompositePodGroup, PodGroup
from ..index.group_names import GroupName, group_name, parent_of

T = TypeVar("T", bound=KubeObject)

_EMPTY: Final[Mapping[str, KubeObject]] = MappingProxyType({})
_POD: Final = Pod().kind
_NO_PODS: Final[Mapping[str, Pod]] = MappingProxyType({})
_NO_PARTS: Final[Mapping[tuple[str, str], PodGroup | CompositePodGroup]] = MappingProxyType({})


class ObjectStore:
    """Objects by kind and key, pods by node and by group, and groups by parent.

    Parameters
    ----------
    objects : iterable of KubeObject
        What is there at the start; of several with one kind and key the last one counts.
    """

    def __init__(self, objects: Iterable[KubeObject] = ()) -> None:
        self._pods: dict[str, Pod] = {}
        self._kinds: dict[str, dict[str, KubeObject]] = {_POD: cast("dict[str, KubeObject]", self._pods)}
        self._on_node: dict[str, dict[str, Pod]] = {}
        self._in_group: dict[GroupName, dict[str, Pod]] = {}
        self._below: dict[str, dict[tuple[str, str], PodGroup | CompositePodGroup]] = {}
        for item in objects:
            self.put(item)

    def put(self, item: KubeObject) -> None:
        """Add an object, or replace the one of its kind and key."""
        if isinstance(item, Pod):
            self.put_pod(item)
            return
        key = item.key
        kind = self._kinds.setdefault(item.kind, {})
        self._leave_places(kind.get(key))
        kind[key] = item
        if isinstance(item, (PodGroup, CompositePodGroup)) and (parent := parent_of(item)):
            self._below.setdefault(parent, {})[item.kind, item.key] = item

    def put_pod(self, pod: Pod) -> None:
        """Add a pod, or replace the one of its key."""
        key = pod.metadata.key
        before = self._pods.get(key)
        if before is not None:
            self._leave_node_and_group(key, before)
        self._pods[key] = pod
        if pod.is_terminal:
            return
        if node := pod.spec.node_name:
            there = self._on_node.get(node)
            if there is None:
                there = self._on_node[node] = {}
            there[key] = pod
        if (group := group_name(pod)) is not None:
            self._in_group.setdefault(group, {})[key] = pod

    def remove(self, item: KubeObject) -> None:
        """Forget the object of this kind and key; nothing happens if there is none."""
        if isinstance(item, Pod):
            key = item.metadata.key
            before = self._pods.pop(key, None)
            if before is not None:
                self._leave_node_and_group(key, before)
            return
        kind = self._kinds.get(item.kind, {})
        self._leave_places(kind.pop(item.key, None))

    def _leave_node_and_group(self, key: str, before: Pod) -> None:
        if node := before.spec.node_name:
            there = self._on_node.get(node)
            if there is not None:
                there.pop(key, None)
        if self._in_group and (group := group_name(before)) is not None and group in self._in_group:
            left = self._in_group[group]
            left.pop(key, None)
            if not left:
                del self._in_group[group]

    def _leave_places(self, before: KubeObject | None) -> None:
        if isinstance(before, (PodGroup, CompositePodGroup)) and (parent := parent_of(before)):
            self._below[parent].pop((before.kind, before.key), None)

    def apply(self, old: KubeObject | None, new: KubeObject | None) -> None:
        """Make one change: addition, update or deletion."""
        if new is not None:
            self.put(new)
        elif old is not None:
            self.remove(old)

    def get(self, model: type[T], key: str) -> T | None:
        """Return the object of a class by its key (`namespace/name`, or `name`), or None."""
        found = self._kinds.get(_kind(model), _EMPTY).get(key)
        return found if isinstance(found, model) else None

    def pod(self, key: str) -> Pod | None:
        """Return a pod by its key, or None."""
        return self._pods.get(key)

    def all(self, model: type[T]) -> list[T]:
        """Return all objects of a class, in the order in which they came."""
        return [item for item in self._kinds.get(_kind(model), _EMPTY).values() if isinstance(item, model)]

    def by_key(self, model: type[T]) -> Mapping[str, T]:
        """Return the objects of a class by key: a view that follows the store, not to be changed."""
        return cast("Mapping[str, T]", self._kinds.setdefault(_kind(model), {}))

    def members(self, group: GroupName) -> list[Pod]:
        """Return the pods that name a group and have not finished."""
        return list(self._in_group.get(group, _NO_PODS).values())

    def parts(self, parent: str) -> list[PodGroup | CompositePodGroup]:
        """Return the groups that name a CompositePodGroup (`namespace/name`) as their parent."""
        return list(self._below.get(parent, _NO_PARTS).values())

    def pods_on(self, node: str) -> Mapping[str, Pod]:
        """Return the pods on a node that have not finished, by key; not to be changed."""
        return self._on_node.get(node, _NO_PODS)


@cache
def _kind(model: type[KubeObject]) -> str:
    kind: str = model.model_fields["kind"].default
    return kind
