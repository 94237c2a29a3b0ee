"""Which running pods may be moved, and for each other one why not.

A pod may move that a controller makes again, in this cluster, wherever it fits. Those of DaemonSets and
mirrors belong to their node, a terminating one is about to go: none of these keeps a node from being emptied.
Every other pod that may not move does.

Sources: kubectl drain; cluster-autoscaler's and Karpenter's annotations; docs/model.md, "Moves".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from ...models.annotations import DO_NOT_DISRUPT, SAFE_TO_EVICT
from ...models.daemons import is_daemon, is_mirror
from .eviction_budgets import covering
from .eviction_units import unit_group

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.moves import MoveOptions
    from ..index.cluster import Cluster

Stays = Literal[
    "daemon",
    "mirror",
    "terminating",
    "no-controller",
    "other-scheduler",
    "never-move",
    "safe-to-evict",
    "do-not-disrupt",
    "empty-dir",
    "host-path",
    "evicted-whole",
    "several-budgets",
]
"""Why a running pod may not move."""

WITH_NODE: Final[frozenset[Stays]] = frozenset({"daemon", "mirror", "terminating"})
"""Reasons that keep no node from being emptied."""

WORDS: Final[Mapping[Stays, str]] = {
    "daemon": "its DaemonSet keeps it on its node",
    "mirror": "its node runs it by itself",
    "terminating": "it is about to go",
    "no-controller": "it has no controller that makes it again",
    "other-scheduler": "another scheduler places its copies",
    "never-move": "it is never to move",
    "safe-to-evict": f'it is annotated {SAFE_TO_EVICT}: "false"',
    "do-not-disrupt": f'it is annotated {DO_NOT_DISRUPT}: "true"',
    "empty-dir": "it would lose the data of its emptyDir",
    "host-path": "it would leave the data of its hostPath behind",
    "evicted-whole": "its pod group is evicted whole or not at all",
    "several-budgets": "several budgets cover it, and the eviction API refuses such pods",
}
"""Each reason, said of the pod."""


@dataclass(frozen=True)
class Movable:
    """The running pods of a cluster.

    Attributes
    ----------
    pods : tuple of int
        Those that may move, in input order.
    reasons : mapping
        Why each of the others may not.
    """

    pods: tuple[int, ...]
    reasons: Mapping[int, Stays]

    def blocking(self) -> dict[int, Stays]:
        """Return the pods that stay and keep their node from being emptied."""
        return {i: reason for i, reason in self.reasons.items() if reason not in WITH_NODE}


def movable(cluster: Cluster, options: MoveOptions) -> Movable:
    """Sort the running pods of a cluster into those that may move and those that may not."""
    reasons = {i: why_not(cluster, i, options) for i in cluster.bound}
    return Movable(
        tuple(i for i, reason in reasons.items() if reason is None),
        {i: reason for i, reason in reasons.items() if reason is not None},
    )


def why_not(cluster: Cluster, i: int, options: MoveOptions) -> Stays | None:
    """Return why running pod i may not move, the first reason that holds; None where it may."""
    info = cluster.pods[i]
    pod, annotations = info.pod, info.pod.metadata.annotations
    volumes = pod.spec.volumes
    heeded = not options.ignore_annotations
    selected = any(each.matches(info.namespace, info.labels) for each in options.never_move)
    rules: tuple[tuple[Stays, bool], ...] = (
        ("daemon", is_daemon(pod)),
        ("mirror", is_mirror(pod)),
        ("terminating", info.terminating),
        ("no-controller", pod.metadata.controller is None),
        ("other-scheduler", info.scheduler not in cluster.profiles),
        ("never-move", selected),
        ("safe-to-evict", heeded and annotations.get(SAFE_TO_EVICT) == "false"),
        ("do-not-disrupt", heeded and annotations.get(DO_NOT_DISRUPT) == "true"),
        ("empty-dir", not options.delete_emptydir_data and any(v.empty_dir is not None for v in volumes)),
        ("host-path", not options.ignore_host_path and any(v.host_path is not None for v in volumes)),
        ("evicted-whole", unit_group(cluster, i) is not None),
    )
    for reason, holds in rules:
        if holds:
            return reason
    return "several-budgets" if len(covering(cluster, i)) > 1 else None
