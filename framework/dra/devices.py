"""Devices and what holds them: slices as served, pools as a node sees them.

Source: resource.k8s.io/v1; k8s.io/dynamic-resource-allocation/structured (pools_experimental.go).
"""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple

from ...models import resource_api as api
from ..vocabulary.arrays import Bools
from .counters import CounterScope


class DeviceId(NamedTuple):
    """What an allocation names."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


def qualified(name: str, driver: str) -> str:
    """Return the full name of an attribute or a capacity: without a domain it is in the driver's."""
    return name if "/" in name else f"{driver}/{name}"


PoolId = tuple[str, str]
"""Driver and pool."""

Attribute = tuple[str, Any]
"""Kind (`int`, `bool`, `string`, `version`, or the plural with a tuple of values) and value."""


def elements(attribute: Attribute | None) -> frozenset[Attribute]:
    """Return what a constraint compares of an attribute: its values, each with its kind (KEP-5491).

    A single value is a set of one; an attribute that is not there, or whose list is not read, has none.
    """
    kind, value = attribute or ("", None)
    if not kind:
        return frozenset()
    if isinstance(value, tuple):
        return frozenset((kind.removesuffix("s"), item) for item in value)
    return frozenset({(kind, value)})


@dataclass(slots=True, eq=False)
class Slice:
    """A slice that takes part.

    Attributes
    ----------
    number : int
        Its place in the order of pools and object names.
    nodes : bool[N] or None
        The nodes that it matches; None for all.
    scope : CounterScope
        The counters that its devices may take from.
    """

    number: int
    name: str
    spec: api.ResourceSliceSpec
    nodes: Bools | None
    scope: CounterScope
    devices: tuple["Device", ...] = ()

    @property
    def pool(self) -> PoolId:
        """Driver and pool."""
        return self.spec.driver, self.spec.pool.name

    @property
    def generation(self) -> int:
        """The pool's generation that it belongs to."""
        return self.spec.pool.generation

    @property
    def per_device(self) -> bool:
        """Whether each device has nodes of its own."""
        return bool(self.spec.per_device_node_selection)


@dataclass(slots=True, eq=False)
class Device:
    """A device of a slice.

    Attributes
    ----------
    number : int
        Its place among all devices, in the order in which the allocator meets them.
    identity : int
        Equal for devices of equal id, in whichever slice or generation.
    content : int
        Equal for devices that no selector can tell apart.
    stock : int
        Equal for devices of one driver with the same capacities and policies: a request takes as much of
        each of them.
    attributes : dict
        By fully qualified name.
    nodes : bool[N] or None
        The nodes that reach it, of those that match its slice; None for all of these.
    shared : bool
        Whether several allocations may hold it at once (and the gate is on).
    counters : tuple of (int, Fraction)
        What it takes of which counter (`Counters`).
    barred : bool
        Whether it needs a gate that is off, and counts among all devices all the same.
    hidden : bool
        Whether it binds under conditions, and that gate is off: no request takes it.
    taints : tuple of DeviceTaint
        Those that keep claims away: its own and those of rules.
    """

    number: int
    identity: int
    content: int
    stock: int
    id: DeviceId
    spec: api.Device
    slice: Slice
    attributes: dict[str, Attribute]
    nodes: Bools | None
    shared: bool
    counters: tuple[tuple[int, Fraction], ...]
    barred: bool
    hidden: bool
    taints: tuple[api.DeviceTaint, ...] = ()

    def reached_from(self, n: int) -> bool:
        """Whether node n, which matches the slice, reaches it."""
        return self.nodes is None or bool(self.nodes[n])


@dataclass(slots=True, eq=False)
class Pool:
    """A pool as a node sees it.

    Attributes
    ----------
    number : int
        Equal for the views of one pool from different nodes.
    devices : tuple of Device
        Those of the highest generation that the node sees, in order; none where what is missing or wrong
        keeps them back.
    incomplete : bool
        Whether slices are missing.
    invalid : str
        What is wrong with it, empty where nothing is.
    """

    number: int
    driver: str
    name: str
    devices: tuple[Device, ...]
    incomplete: bool
    invalid: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.name}"


@dataclass(slots=True, eq=False)
class View:
    """The pools that a node reaches, in order; one object for all nodes that see the same.

    Attributes
    ----------
    node : int
        One of these nodes.
    tolerant : bool
        Whether invalid pools are passed over; else a search that comes to one ends in an error.
    found : dict
        What others derived from the view, by their own keys.
    """

    pools: tuple[Pool, ...]
    node: int
    tolerant: bool
    found: dict[Any, Any] = field(default_factory=dict)
