"""An explanation as a person reads it: where a pod goes, or node by node why it does not go there."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .section import Kind
from .view import EVERYTHING, View
from .words import count, cut, listed

_CAUSES = 5
_STYLES = {"bound": "green", "nominated": "yellow"}


def explain_report(document: Mapping[str, Any], view: View = EVERYTHING) -> RenderableType:
    """Return the report of an explanation (`kubestow explain`)."""
    nodes = document["nodes"]
    taken = [node for node in nodes if node["fits"]]
    refused = [node for node in nodes if not node["fits"]]
    return Group(
        *_headline(document, len(taken), len(nodes)),
        *_taken(taken, view),
        *_refused(refused, view),
    )


def _headline(document: Mapping[str, Any], fitting: int, nodes: int) -> list[RenderableType]:
    result, place = document["result"], document["place"]
    queue = "before all others" if place is None else f"place {place} of {document['queue']} in the queue"
    about = f"priority {document['priority']}"
    if result not in ("gated", "untried"):
        about += f", {queue}"
    lines: list[RenderableType] = [
        Text.assemble(
            (f"{document['instance']}: {document['pod']}", "bold"),
            (f" {_verdict(document)}", _STYLES.get(result, "red")),
            f" ({about})",
        )
    ]
    where = f" of {document['placement']}" if "placement" in document else ""
    if fitting:
        lines.append(Text(f"It fits on {fitting} of {count(nodes, 'node')}{where}."))
    if document["message"]:
        lines.append(Text(document["message"]))
    causes, hidden = cut([cause["text"] for cause in document["causes"]], _CAUSES)
    lines += [Text(f"-> {text}", "bold") for text in causes]
    if hidden:
        lines.append(Text(f"   and {hidden} more like these (-o json has all of them)", "dim"))
    return lines


def _verdict(document: Mapping[str, Any]) -> str:
    match document["result"]:
        case "bound":
            return f"goes to {document['node']}"
        case "nominated":
            return f"can go to {document['node']} after evictions{_chosen_victims(document)}"
        case "gated":
            return "waits for its gates"
        case "untried":
            return "is not tried"
        case _ if "podGroup" in document:
            return f"is not placed with its group {document['podGroup']}"
        case _:
            return "fits nowhere"


def _chosen_victims(document: Mapping[str, Any]) -> str:
    """Return who goes from the chosen node; a pod of a group may not be told."""
    made = next((row["preemption"] for row in document["nodes"] if row["node"] == document["node"]), None)
    return f": {_victims(made)}" if made is not None and made["helps"] else ""


def _taken(nodes: Sequence[Mapping[str, Any]], view: View) -> list[RenderableType]:
    scored = any(node["scores"] for node in nodes)
    rows = [
        (
            Text(node["node"], style="green" if node["chosen"] else ""),
            *view.of_node(node["node"]),
            *((str(node["total"]), _made_of(node["scores"])) if scored else ()),
            "<- goes here" if node["chosen"] else "",
        )
        for node in nodes
    ]
    columns = ("node", *view.about_node, *(("score", "made of") if scored else ()), "")
    numbers = (columns.index("score"),) if scored else ()
    return section("Nodes that take it, the best first", columns, rows, numbers, "nodes")


def _made_of(scores: Mapping[str, int]) -> str:
    return ", ".join(f"{plugin} {score}" for plugin, score in scores.items() if score)


def _refused(nodes: Sequence[Mapping[str, Any]], view: View) -> list[RenderableType]:
    """Nodes that say the same share a row, at the place of the first of them; in a wide table none do."""
    alike: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for node in nodes:
        single = (node["node"], *view.of_node(node["node"])) if view.wide else ()
        alike.setdefault((*single, _why(node), _eviction(node["preemption"])), []).append(node)
    evicting = any(eviction for *_, eviction in alike)
    rows, kinds = [], []
    for (*zone, why, eviction), same in alike.items():
        names = [node["node"] for node in same]
        more = [eviction] if evicting else []
        rows.append((view.listed(names, 4), *zone[1:], why, *more))
        blanks = ("",) * len(view.about_node)
        kinds.append(Kind(names, (*blanks, _reasons(same[0]), *("" for _ in more))))
    columns = ("nodes", *view.about_node, "why not", *(["evictions there"] if evicting else []))
    title = "Nodes that do not take it, the nearest first"
    return section(title, columns, rows, (), "kinds of nodes", kinds=kinds, noun="node")


def _reasons(rejection: Mapping[str, Any]) -> str:
    return f"{rejection['plugin']}: {', '.join(rejection['reasons'])}"


def _why(node: Mapping[str, Any]) -> str:
    lines: list[str] = []
    for rejection in (node, *node["also"]):
        lines.append(_reasons(rejection))
        lines += [f"  {item['text']}" for item in rejection["missing"]]
    if node["nominated"]:
        lines.append(f"  (counting {listed(node['nominated'], 3)}, nominated there)")
    return "\n".join(lines)


def _eviction(preemption: Mapping[str, Any] | None) -> str:
    if preemption is None:
        return ""
    if not preemption["helps"]:
        return "no: " + ", ".join(preemption["reasons"])
    return f"{_victims(preemption)}{' <- chosen' if preemption['chosen'] else ''}"


def _victims(preemption: Mapping[str, Any]) -> str:
    names = listed((victim["pod"] for victim in preemption["victims"]), 4)
    broken = preemption["violations"]
    beyond = f" ({count(broken, 'budget violation')})" if broken else ""
    return f"{names} would go{beyond}"
