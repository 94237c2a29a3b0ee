"""A drain by number: which nodes, which pods, and what holds of nodes that are cordoned already."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from ...framework.rules.supported import require_supported
from ...framework.state.moves import Leave
from ...framework.state.state import State
from ...models.moves import MoveOptions
from .moving import moving

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...models.node import Node
    from ...models.progress import Watch
    from ...models.snapshot import Snapshot
    from .moving import Moving

_TAINT: Final = "node.kubernetes.io/unschedulable"


@dataclass(frozen=True, kw_only=True)
class DrainOptions:
    """What is asked.

    Attributes
    ----------
    rolling : int or None
        How many nodes are drained at a time, and come back; None for all at once, which stay closed.
    leave_unmovable : bool
        Whether pods that may not move stay, and the nodes count as empty without them.
    moves : MoveOptions
    """

    rolling: int | None = None
    leave_unmovable: bool = False
    moves: MoveOptions = field(default_factory=MoveOptions)


@dataclass(frozen=True, eq=False)
class Task:
    """The drain.

    Attributes
    ----------
    moving : Moving
        In a rolling drain its nodes are those that come back: none of the drain is cordoned.
    nodes : tuple of int
        To be emptied, by name.
    shut : frozenset of int
        Those of them that take no pods from the start: they are cordoned in the input, and come back.
    options : DrainOptions
    """

    moving: Moving
    nodes: tuple[int, ...]
    shut: frozenset[int]
    options: DrainOptions

    @property
    def rolling(self) -> int | None:
        """How many nodes are drained at a time; None for all at once."""
        return self.options.rolling

    @property
    def pods(self) -> tuple[int, ...]:
        """The running pods that have to move."""
        return tuple(self.moving.replacement)

    @property
    def first_steps(self) -> tuple[Leave, ...]:
        """What comes before everything else: pods that terminate in the input leave."""
        cluster = self.moving.cluster
        return tuple(Leave(i) for i in cluster.bound if cluster.pods[i].terminating)

    def start(self) -> State:
        """Return the state of the input, after the first steps."""
        state = State.initial(self.moving.cluster)
        for step in self.first_steps:
            state.remove(step.pod)
        return state

    def movable_on(self, state: State, node: int) -> list[int]:
        """Return the pods on a node that have to leave it, replacements that were bound there among them."""
        moving = self.moving
        return [i for i in state.pods_on(node) if i in moving.replacement or i in moving.original]

    def name(self, node: int) -> str:
        """Return the name of a node."""
        return self.moving.cluster.node_names[node]


def task_of(snapshot: Snapshot, nodes: Collection[str], options: DrainOptions, watch: Watch) -> Task:
    """Number a drain.

    Raises
    ------
    KubestowError
        Where the cluster needs what this release does not support.
    """
    names = frozenset(nodes)
    shut: frozenset[str] = frozenset()
    if options.rolling:
        shut = frozenset(node.name for node in snapshot.nodes if node.name in names and _is_cordoned(node))
        snapshot = replace(
            snapshot, nodes=tuple(_back(node) if node.name in shut else node for node in snapshot.nodes)
        )
    numbered = moving(snapshot, options.moves, lambda pod, node: node in names, watch)
    cluster = numbered.cluster
    require_supported(cluster)
    return Task(
        numbered,
        tuple(cluster.node_index[name] for name in sorted(names)),
        frozenset(cluster.node_index[name] for name in shut),
        options,
    )


def _is_cordoned(node: Node) -> bool:
    return node.spec.unschedulable or any(taint.key == _TAINT for taint in node.spec.taints)


def _back(node: Node) -> Node:
    """Return a node as it comes back: schedulable."""
    taints = tuple(taint for taint in node.spec.taints if taint.key != _TAINT)
    spec = node.spec.model_copy(update={"unschedulable": False, "taints": taints})
    return node.model_copy(update={"spec": spec})
