"""The document of `kubestow drain`: the order in which nodes are emptied, or a proof that there is none."""

from __future__ import annotations

from typing import Literal

from .moves import Batch, MoveStep
from .plan_model import PlanModel

Verdict = Literal["possible", "impossible", "undecided"]
"""`possible` with steps that were replayed, `impossible` with a proof, `undecided` with neither."""


class Staying(PlanModel):
    """A running pod on one of the nodes that may not move; `blocks` says whether it keeps its node."""

    pod: str
    node: str
    reason: str
    words: str
    blocks: bool


class Shortage(PlanModel):
    """A sum that anyone can add up: some pods ask for more of a resource than any nodes that take them have.

    Attributes
    ----------
    resource : str
        Its name; `pods` counts places for pods, those that a node has for pods of one kind by its other
        resources among them.
    asked, free : int
        In the units of `kubestow.models.requests`: cpu in thousandths, memory in bytes.
    nodes : tuple of str
        Those that take the pods, whatever stands there.
    """

    resource: str
    asked: int
    free: int
    nodes: tuple[str, ...]


class Remedy(PlanModel):
    """A change after which a budget allows a disruption: a field of the budget, or of its pods."""

    field: Literal["maxUnavailable", "minAvailable", "replicas", "healthy"]
    value: int
    words: str


class Obstacle(PlanModel):
    """Why no order exists.

    Attributes
    ----------
    kind : str
        `unmovable`: a pod may not move. `budget`: it allows no disruption, and never will by moves alone.
        `room`: too many pods do not fit elsewhere. `order`: all orders were tried.
    pods : tuple of str
    nodes : tuple of str
        Those that cannot be emptied because of it; in a rolling drain it cannot be the first.
    budget : str or None
        For room in a rolling drain: the budget that lets no more of the pods wait for their node.
    needed : int
        How many of the pods have to have a place elsewhere.
    shortage : Shortage or None
        For room: the sum, where there is one; otherwise the search has proven it.
    fit : int or None
        For room without a sum: the most of the pods that fit.
    remedies : tuple of Remedy
        Single changes that open a budget.
    """

    kind: Literal["unmovable", "budget", "room", "order"]
    pods: tuple[str, ...]
    nodes: tuple[str, ...]
    budget: str | None = None
    needed: int = 0
    shortage: Shortage | None = None
    fit: int | None = None
    remedies: tuple[Remedy, ...] = ()


class Stage(PlanModel):
    """Nodes that are drained together, and the batches in which their pods move."""

    nodes: tuple[str, ...]
    batches: tuple[Batch, ...]


class Stranded(PlanModel):
    """A pod that was evicted and whose replacement fits nowhere, with kube-scheduler's message."""

    pod: str
    node: str
    message: str


class Refused(PlanModel):
    """A pod whose eviction a budget refuses for good."""

    pod: str
    node: str
    budget: str


class InNameOrder(PlanModel):
    """What comes of draining by name, with kube-scheduler placing what is evicted as it comes.

    Attributes
    ----------
    finished : bool
        Whether all nodes were emptied and every pod that moved runs again.
    emptied : tuple of str
        Nodes without movable pods in the end, or that came back.
    moves : int
        Pods that were evicted and run again, each time.
    stranded : tuple of Stranded
    refused : tuple of Refused
    blocked : int
        Pods that may not move, for which a drain is refused before it begins; what else is told here is what
        would come of it without them.
    """

    finished: bool
    emptied: tuple[str, ...]
    moves: int
    stranded: tuple[Stranded, ...]
    refused: tuple[Refused, ...]
    blocked: int


class DrainStats(PlanModel):
    """How the answer was made: `verified` if the steps were replayed, `interrupted` if Ctrl-C came."""

    wall_seconds: float
    verified: bool
    interrupted: bool = False


class Drain(PlanModel):
    """How nodes are emptied.

    Attributes
    ----------
    instance : str
    nodes : tuple of str
        To be emptied, by name.
    rolling : int or None
        How many are drained at a time, and come back; None where they stay closed, all at once.
    verdict : str
    moves, waits : int
        Pods that move, each time; those of them that do not run until a node has come back.
    stages : tuple of Stage
        Empty unless it is possible.
    steps : tuple of MoveStep
        The same in single steps, which were replayed.
    staying : tuple of Staying
    obstacles : tuple of Obstacle
        Empty unless it is impossible.
    once_open : str or None
        Where only budgets are in the way: the verdict if each of them allowed one disruption.
    uncordoned : tuple of str
        Nodes of a rolling drain that are cordoned in the input and come back schedulable like the others;
        empty unless it is possible.
    in_name_order : InNameOrder
        Beside it, what users have today.
    """

    instance: str
    nodes: tuple[str, ...]
    rolling: int | None
    verdict: Verdict
    moves: int
    waits: int
    stages: tuple[Stage, ...]
    steps: tuple[MoveStep, ...]
    staying: tuple[Staying, ...]
    obstacles: tuple[Obstacle, ...]
    once_open: Verdict | None
    uncordoned: tuple[str, ...]
    in_name_order: InNameOrder
    stats: DrainStats
