"""Report of scripts of the scheduling queue: the place of each pod after each step."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .view import EVERYTHING, View
from .words import count


def queue_report(documents: Sequence[Mapping[str, Any]], view: View = EVERYTHING) -> RenderableType:
    """Return the report of `kubestow queue`: a table for each script, a row for each step.

    Steps of pods that the view does not show have no row, and other rows do not name them.
    """
    parts: list[RenderableType] = [Text(count(len(documents), "script")), *view.remark]
    columns = ("at", "step", "active", "backoff", "unschedulable", "in flight")
    for document in documents:
        title = document["name"] + (f": {document['what']}" if document.get("what") else "")
        rows = [
            (
                f"{step['at']:g}",
                _step(step),
                view.listed(_keys(step["active"], view)),
                view.listed(_backing_off(step, view)),
                view.listed(_waiting(step, view)),
                view.listed(_keys(step["inFlight"], view)),
            )
            for step in document["trace"]
            if not (pod := _pod(step)) or view.shows(pod)
        ]
        parts.extend(section(title, columns, rows, (0,), "steps"))
    return Group(*parts)


def left_in_queue(document: Mapping[str, Any]) -> list[str]:
    """Return the pods that are still in the queue or in flight when a script ends."""
    if not document["trace"]:
        return []
    last = document["trace"][-1]
    return [key for place in ("active", "backoff", "unschedulable", "inFlight") for key in last[place]]


def _short(key: str) -> str:
    return key.removeprefix("default/")


def _pod(step: Mapping[str, Any]) -> str:
    """Return the pod that a step is about, or nothing."""
    if step["op"] == "event":
        item = step.get("new") or step["old"]
        return _key(item) if item["kind"] == "Pod" else ""
    name = step.get("popped") or step.get("pod") or ""
    return name if "/" in name or not name else f"default/{name}"


def _key(item: Mapping[str, Any]) -> str:
    meta = item.get("metadata") or {}
    return f"{meta.get('namespace') or 'default'}/{meta.get('name', '')}"


def _keys(keys: Sequence[str], view: View) -> list[str]:
    return [_short(key) for key in view.shown(keys)]


def _step(step: Mapping[str, Any]) -> Text:
    """Tell a step in words; what happens by itself is dim."""
    operation = step["op"]
    pod = _short(step.get("pod", ""))
    if operation == "event":
        item = step.get("new") or step["old"]
        events = ", ".join(step["events"]) or "no event"
        return Text(f"{item['kind']} {_short(_key(item))}: {events}")
    if operation == "pop":
        if step["poppedFrom"] == "nothing":
            return Text("pop: nothing to do", style="dim")
        early = step["poppedFrom"] == "backoff"
        return Text(f"pop {_short(step['popped'])}" + (", before its backoff is over" if early else ""))
    if operation == "fail":
        return Text(f"{pod} fails: {_rejectors(step)}", style="red")
    if operation == "bound":
        return Text(f"{pod} is bound", style="green")
    if operation == "activate":
        return Text(f"activate {pod}")
    return Text(operation, style="dim")


def _rejectors(step: Mapping[str, Any]) -> str:
    plugins = [*step.get("plugins", ()), *(f"{name} (pending)" for name in step.get("pending", ()))]
    return ", ".join(plugins) or "an internal error"


def _backing_off(step: Mapping[str, Any], view: View) -> list[str]:
    expirations = step["backoffExpiration"]
    return [f"{_short(key)} until {expirations[key]:g}" for key in view.shown(step["backoff"])]


def _waiting(step: Mapping[str, Any], view: View) -> list[str]:
    gates = dict(entry.rsplit(":", 1) for entry in step["gated"])
    return [
        f"{_short(key)} (gated by {gates[key]})" if key in gates else _short(key)
        for key in view.shown(step["unschedulable"])
    ]
