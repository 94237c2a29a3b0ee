"""A reason: one rule of a round that speaks of a pod, as its author wrote it, and the round without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ....framework.index.cluster import Cluster
    from ....framework.index.podinfo import PodInfo
    from ....framework.rules.groups import Group
    from ....models.pod import Pod, PodSpec
    from ....models.snapshot import Snapshot

Lift = Callable[["Snapshot"], "Snapshot"]
"""Returns the round in which one rule is absent for the pods in question; changes nothing in place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reason:
    """One rule.

    Attributes
    ----------
    kind : str
        What sort of rule it is; one of `KINDS`.
    object : str
        Whose rule it is: kind and name of the object, such as `Pod shop/web-0`.
    field : str
        Where it stands in the object.
    text : str
        The rule in words, as it was written.
    lift : function
        From the round to the round without the rule.
    facts : mapping
        Names and numbers of the rule, as JSON values.
    """

    kind: str
    object: str
    field: str
    text: str
    lift: Lift
    facts: Mapping[str, Any] = dataclass_field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        return {
            "kind": self.kind,
            "object": self.object,
            "field": self.field,
            "text": self.text,
            **({"facts": dict(self.facts)} if self.facts else {}),
        }

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What tells it from every other reason of the round."""
        return self.kind, self.object, self.field, self.text


@dataclass(frozen=True, eq=False)
class Subject:
    """What a question is about: one pod, or the waiting members of a group.

    Attributes
    ----------
    cluster : Cluster
    name : str
        `Pod ns/name` or `PodGroup ns/name`.
    pods : tuple of int
        The pods, at least one.
    group : Group or None
        The group that is asked about, or whose member the pod is; None for a group of groups.
    whole : bool
        Whether the group is asked about, not one pod.
    leaves : tuple of Group
        The groups of a group of groups.
    """

    cluster: Cluster
    name: str
    pods: tuple[int, ...]
    group: Group | None = None
    whole: bool = False
    leaves: tuple[Group, ...] = ()

    @property
    def groups(self) -> tuple[Group, ...]:
        """The groups whose rules bear on the pods."""
        return self.leaves if self.group is None else (self.group,)

    @property
    def infos(self) -> tuple[PodInfo, ...]:
        """The pods."""
        return tuple(self.cluster.pods[i] for i in self.pods)

    @property
    def keys(self) -> frozenset[str]:
        """Keys of the pods."""
        return frozenset(info.key for info in self.infos)

    def like(self, info: PodInfo) -> frozenset[str]:
        """Return the keys of the pods of one class."""
        return frozenset(other.key for other in self.infos if other.cls == info.cls)

    @property
    def kinds(self) -> tuple[PodInfo, ...]:
        """One pod of each class: pods of one class are under the same rules."""
        return tuple({info.cls: info for info in reversed(self.infos)}.values())[::-1]


def on_pods(keys: frozenset[str], change: Callable[[Pod], Pod]) -> Lift:
    """Return the lift that changes some pods."""

    def lift(snapshot: Snapshot) -> Snapshot:
        return replace(snapshot, pods=tuple(change(pod) if pod.key in keys else pod for pod in snapshot.pods))

    return lift


def on_specs(keys: frozenset[str], change: Callable[[PodSpec], Mapping[str, Any]]) -> Lift:
    """Return the lift that changes fields of some pods' specs: `change` returns the new values."""

    def apply(pod: Pod) -> Pod:
        return pod.model_copy(update={"spec": pod.spec.model_copy(update=change(pod.spec))})

    return on_pods(keys, apply)


def listed(names: Sequence[str], most: int = 4) -> str:
    """Join names; of many the first ones, and how many more."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"


def filters(subject: Subject, info: PodInfo, plugin: str) -> bool:
    """Whether a plugin filters a pod; where no profile has its schedulerName, in the first profile."""
    profiles = subject.cluster.profiles
    profile = profiles.get(info.scheduler) or next(iter(profiles.values()))
    return profile.filters(plugin)
