"""A scenario: a cluster and what happens to it, for `kubestow simulate`.

Times are whole nanoseconds from the scenario's start, as in the scheduling queue.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from .meta import KubeObject
from .node import Node
from .pod import Pod
from .snapshot import Snapshot

SECOND: Final = 1_000_000_000

Expander = Literal["least-waste", "price", "random"]


@dataclass(frozen=True, slots=True)
class Put:
    """Objects come, or replace those of their kind and key."""

    objects: tuple[KubeObject, ...]


@dataclass(frozen=True, slots=True)
class Delete:
    """An object is deleted: a pod gracefully, a workload with its pods, a node with what runs on it."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A workload gets another number of replicas (a Job: of parallel pods)."""

    kind: str
    key: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Cordon:
    """A node becomes unschedulable, or schedulable again."""

    node: str
    on: bool = True


@dataclass(frozen=True, slots=True)
class Drain:
    """A node is cordoned and its pods are evicted, again and again where a budget refuses."""

    node: str


@dataclass(frozen=True, slots=True)
class Zone:
    """All nodes with a value of a label stop answering, or answer again."""

    key: str
    value: str
    dark: bool = True


@dataclass(frozen=True, slots=True)
class Stock:
    """A node group is sold out, or can be had again."""

    group: str
    out: bool = True


@dataclass(frozen=True, slots=True)
class Kind:
    """What arrives: pods of one template, how often in relation to others, and how long each runs.

    Attributes
    ----------
    pod : Pod
    weight : float
    runs_for : int
        The mean of an exponential distribution (nanoseconds); 0 means for ever.
    """

    pod: Pod
    weight: float = 1.0
    runs_for: int = 0


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Pods arrive at random.

    Attributes
    ----------
    rate : float
        Pods a second, on average (a Poisson process).
    lasts : int
        For how long (nanoseconds).
    kinds : tuple of Kind
    seed : int
        Added to the scenario's.
    """

    rate: float
    lasts: int
    kinds: tuple[Kind, ...]
    seed: int = 0


Action = Put | Delete | Scale | Cordon | Drain | Zone | Stock | Arrivals


@dataclass(frozen=True, slots=True)
class TimedEvent:
    """Something that happens at a time."""

    at: int
    action: Action


@dataclass(frozen=True, slots=True)
class NodeGroup:
    """Machines that the autoscaler can have.

    Attributes
    ----------
    name : str
    template : Node
        A node of the group but for its name.
    least, most : int
        How many there may be.
    price : float
        Of one node for an hour.
    provisioning : int
        From the order to the node's arrival (nanoseconds).
    sold_out : bool
        Whether the scenario starts with none to be had.
    refusal : int
        From the order to the cloud's answer that there is none.
    """

    name: str
    template: Node
    least: int = 0
    most: int = 10
    price: float = 1.0
    provisioning: int = 60 * SECOND
    sold_out: bool = False
    refusal: int = 30 * SECOND


@dataclass(frozen=True, slots=True)
class Autoscaler:
    """The cluster autoscaler.

    Attributes
    ----------
    groups : tuple of NodeGroup
    scan : int
        From one RunOnce to the next.
    expander : str
        How one group is chosen among several that help.
    backoff, longest_backoff : int
        How long a group that failed is left alone: doubled each time up to the limit.
    unneeded : int
        How long a node stays empty before it is given back; 0 keeps it.
    seed : int
        Of the expander `random`, added to the scenario's.
    """

    groups: tuple[NodeGroup, ...]
    scan: int = 10 * SECOND
    expander: Expander = "least-waste"
    backoff: int = 300 * SECOND
    longest_backoff: int = 1800 * SECOND
    unneeded: int = 600 * SECOND
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """How long things take in the simulated cluster (nanoseconds).

    Attributes
    ----------
    cycle : int
        A scheduling cycle with its binding.
    api : int
        From the decision to preempt to the calls that remove the victims.
    start : int
        From binding to a pod that is ready.
    stop : int
        The longest that a pod takes to terminate; its grace period may be shorter.
    retry : int
        Between two attempts of a drain to evict a pod.
    dark : int
        How long a silent node's pods are kept that do not say so themselves.
    driver : int
        How long a driver takes to prepare a new claim (the proposal's DRA example); 0 asks no driver.
    optimal : int
        Between two optimal rounds.
    budget : float
        Seconds of real time for an optimal round.
    """

    cycle: int = SECOND // 1000
    api: int = 0
    start: int = SECOND
    stop: int = 30 * SECOND
    retry: int = 5 * SECOND
    dark: int = 300 * SECOND
    driver: int = 0
    optimal: int = 5 * SECOND
    budget: float = 10.0


@dataclass(frozen=True, slots=True)
class Scenario:
    """See the module's docstring.

    Attributes
    ----------
    name, title, story, source : str
    snapshot : Snapshot
        The cluster at the start; its time is time 0, its configuration and gates are the scheduler's.
    duration : int
    seed : int
    events : tuple of TimedEvent
        In the order of their times.
    facts : mapping
        What is known about the outcome; only tests read it.
    """

    name: str
    snapshot: Snapshot
    duration: int
    seed: int = 0
    events: tuple[TimedEvent, ...] = ()
    autoscaler: Autoscaler | None = None
    pace: Pace = Pace()
    title: str = ""
    story: str = ""
    source: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
