"""What stands behind a rejection that upstream's words hide: guards, pods on their way out, counters.

A node's row says it in its details; where one of these is what keeps a pod waiting it belongs into the
headline, however many rows there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..cycle.node_filter import NodeFilter
from ..cycle.preemption import GUARDED

if TYPE_CHECKING:
    from ..cycle.filter_result import FilterResult
    from ..index.cluster import Cluster
    from ..state.nominations import Beside
    from ..state.state import State

_GUARD: Final = GUARDED.partition("{guard}")[0]


def terminating_in_the_way(
    cluster: "Cluster", state: "State", result: "FilterResult", n: int, nominated: "Beside"
) -> list[int]:
    """Return the pods that are being deleted on node n if the pod of `result` fits once they are gone."""
    leaving = [j for j in state.pods_on(n) if state.terminating[j]]
    if not leaving or result.cycle.rejected is not None:
        return []
    node = NodeFilter(cluster, state, result.cycle, n)
    for j in leaving:
        node.remove(j)
    if not node.passes(nominated):
        return []
    # Those that can be put back are not in the way.
    needed: list[int] = []
    for j in leaving:
        node.add(j)
        if not node.passes(nominated):
            node.remove(j)
            needed.append(j)
    return needed


def causes(rows: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what keeps a pod from the nodes of an explanation: kind, nodes, names, text.

    Parameters
    ----------
    rows : sequence of mapping
        The document's `nodes`, the nearest miss first.
    """
    refused = [row for row in rows if not row["fits"]]
    yield from _guards(refused)
    for row in refused:
        if row["terminating"]:
            pods = ", ".join(row["terminating"])
            be = "is" if len(row["terminating"]) == 1 else "are"
            yield {
                "kind": "terminating",
                "nodes": [row["node"]],
                "pods": row["terminating"],
                "text": f"{row['node']} takes it once {pods}, which {be} being deleted, {be} gone",
            }
    yield from _counters(refused)


def _guards(refused: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    nodes: dict[str, list[str]] = {}
    for row in refused:
        for reason in (row["preemption"] or {}).get("reasons", ()):
            if reason.startswith(_GUARD):
                nodes.setdefault(reason.removeprefix(_GUARD), []).append(row["node"])
    for guard, there in nodes.items():
        where = there[0] if len(there) == 1 else f"{len(there)} nodes"
        yield {
            "kind": "guard",
            "nodes": there,
            "guard": int(guard),
            "text": f"less important pods on {where} are guarded: beyond their budgets only priority {guard} "
            "or higher may evict them",
        }


def _counters(refused: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    nodes: dict[str, list[str]] = {}
    for row in refused:
        for rejection in (row, *row["also"]):
            for item in rejection["missing"]:
                if item["what"] == "counter":
                    nodes.setdefault(item["text"], []).append(row["node"])
    for text, there in nodes.items():
        yield {"kind": "counter", "nodes": there, "text": text}
