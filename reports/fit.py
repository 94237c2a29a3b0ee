"""How many copies fit: the most beside greedy's number, where they go, and what stops the next one."""

from rich.console import Group, RenderableType
from rich.text import Text

from ..models.fit import Fit, Fitting
from .layout import section
from .plan import limited
from .words import count


def fit_report(found: Fit) -> RenderableType:
    """Return the report: both numbers, a row for each node, evictions, the reasons of the next copy."""
    best, greedy = found.optimal, found.greedy
    what = "1 pod" if found.pods_per_copy == 1 else f"{found.pods_per_copy} pods each"
    lines = [
        Text.assemble((found.instance, "bold"), f": copies of {found.template} ({what})"),
        Text(f"  most:   {_number(best)}{_proof(found)}", style="bold"),
        Text(f"  greedy: {_number(greedy)}"),
    ]
    if found.evict and found.limits is not None:
        lines.append(Text(f"  limits of both: {limited(found.limits)}"))
    return Group(
        *lines,
        *_nodes(found),
        *_evictions(best),
        *_next(found),
    )


def _number(fitting: Fitting) -> str:
    parts = ["1 copy" if fitting.copies == 1 else f"{fitting.copies} copies"]
    if fitting.waiting_scheduled:
        parts.append(f"beside {count(fitting.waiting_scheduled, 'waiting pod')}")
    if fitting.evictions:
        parts.append(f"with {count(len(fitting.evictions), 'eviction')}")
    return " ".join(parts)


def _proof(found: Fit) -> str:
    best = found.optimal
    if found.enough:
        return ", as many as were asked for"
    if best.proven:
        return ", proven"
    return ", not proven" if best.bound is None else f", not proven: at most {best.bound}"


def _nodes(found: Fit) -> list[RenderableType]:
    """Return a row for each node that takes copies with either scheduler."""
    best, greedy = ({n.node: n.pods for n in each.nodes} for each in (found.optimal, found.greedy))
    nodes = sorted(best.keys() | greedy.keys())
    rows = [(name, str(best.get(name, 0)), str(greedy.get(name, 0))) for name in nodes]
    return section("Pods of copies on each node", ("node", "most", "greedy"), rows, (1, 2), "nodes")


def _evictions(best: Fitting) -> list[RenderableType]:
    rows = [(e.pod, e.node, e.preemptor or "", ", ".join(e.violates)) for e in best.evictions]
    return section("Evictions", ("pod", "node", "makes room for", "violates"), rows, (), "evictions")


def _next(found: Fit) -> list[RenderableType]:
    rows = [
        (name, each.next.message)
        for name, each in (("most", found.optimal), ("greedy", found.greedy))
        if each.next is not None
    ]
    return section("Why the next copy fits nowhere", ("", "kube-scheduler's message"), rows)
