"""An allocation: the devices of a claim, and the nodes from which they can be reached.

Source: k8s.io/dynamic-resource-allocation/structured (createNodeSelector).
"""

import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ...models import resource_api as api
from ...models.quantity import format_quantity, parse_quantity
from ...models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from .capacity import Amounts
from .claims import Want
from .devices import Device, DeviceId, qualified

_SHARES: Final = uuid.UUID("6f6f8f9a-0d0e-5b0c-9d2b-0b9a3f1f2f10")
_NAME: Final = "metadata.name"


class Pick(NamedTuple):
    """A device chosen for a want, and what it takes of a shared device's capacities (else None)."""

    want: Want
    device: Device
    taken: Amounts | None


@dataclass(frozen=True, slots=True)
class Result:
    """A device that serves a request.

    Attributes
    ----------
    request : str
        `request` or `request/alternative`.
    share : str
        The id of its share of a device that several allocations hold; empty for a device of its own.
    taken : tuple of (str, Fraction)
        What it takes of the device's capacities, by full name.
    """

    request: str
    id: DeviceId
    admin: bool = False
    share: str = ""
    taken: tuple[tuple[str, Fraction], ...] = ()


@dataclass(frozen=True, slots=True)
class Allocation:
    """The devices of a claim.

    Attributes
    ----------
    results : tuple of Result
    selector : NodeSelector or None
        The nodes from which they are reached; None for all.
    failed : bool
        Whether binding failed or took too long: then they are reached from nowhere (`binding_conditions`).
    """

    results: tuple[Result, ...]
    selector: NodeSelector | None = None
    failed: bool = False

    @property
    def node(self) -> str | None:
        """The one node from which the devices are reached, where there is only one by name."""
        if self.selector is None:
            return None
        terms = self.selector.node_selector_terms
        fields = [item for term in terms for item in term.match_fields]
        if len(terms) == len(fields) == 1 and fields[0].operator == "In" and not terms[0].match_expressions:
            return fields[0].values[0]
        return None

    def document(self) -> list[dict[str, Any]]:
        """Write the devices as the contract has them."""
        return [_document(result) for result in self.results]


def _document(result: Result) -> dict[str, Any]:
    written: dict[str, Any] = {
        "request": result.request,
        "driver": result.id.driver,
        "pool": result.id.pool,
        "device": result.id.device,
    }
    if result.admin:
        written["adminAccess"] = True
    if result.share:
        written["shareID"] = result.share
    if result.taken:
        own = f"{result.id.driver}/"
        written["consumedCapacity"] = {
            name.removeprefix(own): format_quantity(amount) for name, amount in result.taken
        }
    return written


def read(model: api.AllocationResult, *, failed: bool = False) -> Allocation:
    """Read an allocation from a claim's status."""
    results = tuple(
        Result(
            request=item.request,
            id=DeviceId(item.driver, item.pool, item.device),
            admin=item.admin_access,
            share=item.share_id or "",
            taken=tuple(
                (qualified(name, item.driver), taken) for name, taken in item.consumed_capacity.items()
            ),
        )
        for item in model.devices.results
    )
    return Allocation(results, model.node_selector, failed)


def write(claim: str, picks: Iterable[Pick], node: str) -> Allocation:
    """Make an allocation of what was chosen.

    Parameters
    ----------
    claim : str
        Its key.
    picks : iterable of Pick
    node : str
        The node for which they were chosen.
    """
    picks = list(picks)
    results = tuple(
        Result(
            request=pick.want.result,
            id=pick.device.id,
            admin=pick.want.admin,
            # Upstream draws a random id; this one is the same whenever the same is decided.
            share="" if pick.taken is None else str(uuid.uuid5(_SHARES, f"{claim} {k} {pick.device.id}")),
            taken=tuple((pick.taken or {}).items()),
        )
        for k, pick in enumerate(picks)
    )
    return Allocation(results, reach_of([pick.device for pick in picks], node))


def reread(
    document: Iterable[Mapping[str, Any]], device_of: Callable[[DeviceId], Device], node: str
) -> Allocation:
    """Read devices back that `Allocation.document` wrote.

    Parameters
    ----------
    document : iterable of mapping
    device_of : callable
        The device of an id; `KeyError` for one that does not exist.
    node : str
        The node for which they were chosen.
    """
    results = tuple(
        Result(
            request=item["request"],
            id=DeviceId(item["driver"], item["pool"], item["device"]),
            admin=bool(item.get("adminAccess")),
            share=item.get("shareID", ""),
            taken=tuple(
                (qualified(name, item["driver"]), parse_quantity(amount))
                for name, amount in item.get("consumedCapacity", {}).items()
            ),
        )
        for item in document
    )
    return Allocation(results, reach_of([device_of(result.id) for result in results], node))


@lru_cache(maxsize=1 << 14)
def _only(node: str) -> NodeSelector:
    """Select a node by its name."""
    name = NodeSelectorRequirement(key=_NAME, operator="In", values=(node,))
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))


def reach_of(devices: Iterable[Device], node: str) -> NodeSelector | None:
    """Say from which nodes devices are reached: the node of a local one, else all of their own conditions.

    `node` is the name of the one for which they were chosen.
    """
    fields: dict[NodeSelectorRequirement, None] = {}
    labels: dict[NodeSelectorRequirement, None] = {}
    for device in devices:
        item = device.spec if device.slice.per_device else device.slice.spec
        if item.node_name or device.spec.binds_to_node:
            return _only(node)
        if item.node_selector is not None:
            for term in item.node_selector.node_selector_terms:
                fields.update(dict.fromkeys(term.match_fields))
                labels.update(dict.fromkeys(term.match_expressions))
    if not fields and not labels:
        return None
    term = NodeSelectorTerm(match_fields=tuple(fields), match_expressions=tuple(labels))
    return NodeSelector(node_selector_terms=(term,))
