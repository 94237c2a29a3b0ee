"""The part of a trace's report that tells of groups: each is one cycle, with the groups of its tree."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from rich.text import Text

from .view import View

GROUP_COLUMNS: Final = ("group", "pods", "result", "placement", "because")

_STYLES = {
    "scheduled": "green",
    "Success": "green",
    "waitingOnPreemption": "yellow",
    "unschedulable": "red",
    "Unschedulable": "red",
    "error": "red",
    "Error": "red",
}


def group_rows(document: Mapping[str, Any], view: View) -> Iterator[tuple[str, str, Text, str, str]]:
    """Yield a row for each group that was tried as one; those of its tree, indented, follow a tree's root.

    Parameters
    ----------
    document : mapping
        A trace.
    view : View
        Of the namespace whose groups have rows.
    """
    for entry in document.get("groups", ()):
        if not view.shows_namespace(_name(entry)):
            continue
        victims = entry["victims"]
        evicted = f"evicts {view.listed(victims)}" if victims else ""
        because = ": ".join(part for part in (entry.get("message", ""), evicted) if part)
        yield (*_told(entry, "", str(len(entry["pods"])), entry["result"]), because)
        for node in entry.get("groups", ()):
            if _name(node) != _name(entry):
                yield (*_told(node, "  ", "", node["status"]), node.get("message", ""))


def _told(entry: Mapping[str, Any], indent: str, pods: str, result: str) -> tuple[str, str, Text, str]:
    placement = entry["placement"]
    where = "" if placement is None else placement or "everywhere"
    return f"{indent}{_name(entry)}", pods, Text(result, style=_STYLES[result]), where


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry.get("podGroup") or entry["compositePodGroup"])
