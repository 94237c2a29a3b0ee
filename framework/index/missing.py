"""What a node lacks for a pod, and by how much, in words and in numbers.

Upstream only says that something is missing ("Insufficient cpu"); how far a node is from taking the pod is
for people who have to change one of the two.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from ...models.quantity import format_quantity
from ...models.selectors import CompiledSelector, Requirement

if TYPE_CHECKING:
    from .cluster import Cluster

_SHOWN: Final = 3
"""Pods that are named of those that are in the way; the rest are counted."""


@dataclass(frozen=True, slots=True)
class Missing:
    """One thing that is missing.

    Attributes
    ----------
    what : str
        A resource, a label, a taint, a domain ...
    text : str
        What is wanted of it, what is there, by how much it falls short.
    gap : float
        How far off it is, for the order of nodes: the share of what is wanted that is missing, where it can
        be measured; 1 where it is there or not.
    facts : mapping
        The numbers and names in `text`, as JSON values.
    """

    what: str
    text: str
    gap: float = 1.0
    facts: Mapping[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        return {"what": self.what, **self.facts, "text": self.text}


def amount(resource: str, number: int) -> str:
    """Write an amount as manifests do: cpu is counted in thousandths, everything else in units."""
    if resource == "cpu":
        return format_quantity(Fraction(number, 1000))
    return format_quantity(Fraction(number))


def readable(resource: str, number: int) -> str:
    """Write an amount for people: as `amount`, and rounded where that would be a long row of digits."""
    exact = amount(resource, number)
    if resource == "cpu" or len(exact) <= 7:
        return exact
    for suffix, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
        if abs(number) >= size:
            return f"{number / size:.2f}{suffix}"
    return exact


def short_of(resource: str, wanted: int, free: int, offered: int) -> Missing:
    """Report that a node has too little of a resource."""
    short = wanted - free
    numbers = {"wanted": wanted, "free": free, "allocatable": offered, "short": short}
    words = {name: readable(resource, number) for name, number in numbers.items()}
    unit = "pod" if resource == "pods" and wanted == 1 else resource
    return Missing(
        what=resource,
        text="{wanted} {unit} wanted, {free} of {allocatable} free: {short} short".format(unit=unit, **words),
        gap=short / max(wanted, 1),
        facts={name: amount(resource, number) for name, number in numbers.items()},
    )


def condition(item: Requirement) -> str:
    """Write one condition on a label as kubectl's selectors have it."""
    match item.operator:
        case "In" if len(item.values) == 1:
            return f"{item.key}={item.values[0]}"
        case "NotIn" if len(item.values) == 1:
            return f"{item.key}!={item.values[0]}"
        case "In" | "NotIn":
            return f"{item.key} {item.operator.lower()} ({','.join(item.values)})"
        case "Exists":
            return item.key
        case "DoesNotExist":
            return f"!{item.key}"
        case "Gt" | "Lt":
            return f"{item.key}{'>' if item.operator == 'Gt' else '<'}{','.join(item.values)}"


def selected(selector: CompiledSelector | None) -> str:
    """Write which pods a selector selects: `with app=web,tier=front`."""
    if selector is None:
        return "with nothing (no selector)"
    if selector.is_empty:
        return "with any labels"
    return "with " + ",".join(condition(item) for item in selector.requirements)


def label_of(labels: Mapping[str, str], key: str) -> str:
    """Write what a node says about a label: `zone=a`, `no zone`."""
    return f"{key}={labels[key]}" if key in labels else f"no {key}"


def named(cluster: "Cluster", pods: Iterable[int]) -> str:
    """Name pods, the first few of them."""
    keys = [cluster.pods[j].key for j in pods]
    if len(keys) <= _SHOWN + 1:
        return ", ".join(keys)
    return f"{', '.join(keys[:_SHOWN])} and {len(keys) - _SHOWN} more"
