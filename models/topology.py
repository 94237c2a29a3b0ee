"""The racks, zones or other domains of a cluster after a round: who is where, and which devices are taken.

`model_dump(by_alias=True)` is what `kubestow solve --show topology -o json` adds to the plan.
"""

from __future__ import annotations

from typing import Literal

from .plan_model import PlanModel

PodState = Literal["placed", "running", "evicted"]
DeviceState = Literal["free", "taken", "spent"]


class SeatedPod(PlanModel):
    """A pod on a node; `evicted` ones have left it in the round, `placed` ones are new."""

    pod: str
    state: PodState
    pod_group: str | None = None


class SeatedDevice(PlanModel):
    """A device, and whose claims hold it: pod groups, and pods without a group.

    `spent`: nobody holds it, and the counters that it would take are used up. `placed`: it was allocated in
    this round.
    """

    device: str
    state: DeviceState
    placed: bool = False
    holders: tuple[str, ...] = ()


class Amount(PlanModel):
    """How much of a node's resource is requested, and how much there is; cpu in thousandths."""

    resource: str
    requested: int
    allocatable: int


class SeatingNode(PlanModel):
    """A node with its pods, and the devices that only it reaches."""

    node: str
    amounts: tuple[Amount, ...]
    pods: tuple[SeatedPod, ...]
    devices: tuple[SeatedDevice, ...]


class SeatingDomain(PlanModel):
    """The nodes with one value of the key; None: those without the label, or all where there is no key.

    `within` has the values of other keys that pod groups name, where all the domain's nodes share one;
    `devices` are reached from several of its nodes and from no other domain.
    """

    domain: str | None
    within: dict[str, str]
    nodes: tuple[SeatingNode, ...]
    devices: tuple[SeatedDevice, ...]


class SeatedGroup(PlanModel):
    """A pod group after the round.

    `placed` of its `waiting` members are new; `standing` counts them and the running ones that stay.
    `domains` are those of the topology's key in which members stand.
    """

    pod_group: str
    placed: int
    waiting: int
    standing: int
    min_count: int | None
    domains: tuple[str | None, ...]


class Topology(PlanModel):
    """A cluster by the domains of one node label; `key` is None where no label divides it.

    `devices` are reached from more than one domain.
    """

    key: str | None
    domains: tuple[SeatingDomain, ...]
    devices: tuple[SeatedDevice, ...]
    groups: tuple[SeatedGroup, ...]
