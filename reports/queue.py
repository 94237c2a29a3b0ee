"""Report of scripts of the scheduling queue: the place of each pod after each step."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from .layout import section
from .words import count, listed


def queue_report(documents: Sequence[Mapping[str, Any]]) -> RenderableType:
    """Return the report of `kubestow queue`: a table for each script, a row for each step."""
    parts: list[RenderableType] = [Text(count(len(documents), "script"))]
    columns = ("at", "step", "active", "backoff", "unschedulable", "in flight")
    for document in documents:
        title = document["name"] + (f": {document['what']}" if document.get("what") else "")
        rows = [
            (
                f"{step['at']:g}",
                _step(step),
                _keys(step["active"]),
                _backing_off(step),
                _waiting(step),
                _keys(step["inFlight"]),
            )
            for step in document["trace"]
        ]
        parts.extend(section(title, columns, rows, (0,), "steps"))
    return Group(*parts)


def _short(key: str) -> str:
    return key.removeprefix("default/")


def _keys(keys: Sequence[str]) -> str:
    return listed(_short(key) for key in keys)


def _step(step: Mapping[str, Any]) -> Text:
    """Tell a step in words; what happens by itself is dim."""
    operation = step["op"]
    pod = _short(step.get("pod", ""))
    if operation == "event":
        item = step.get("new") or step["old"]
        meta = item.get("metadata") or {}
        name = f"{meta.get('namespace') or 'default'}/{meta.get('name', '')}"
        events = ", ".join(step["events"]) or "no event"
        return Text(f"{item['kind']} {_short(name)}: {events}")
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


def _backing_off(step: Mapping[str, Any]) -> str:
    expirations = step["backoffExpiration"]
    return listed(f"{_short(key)} until {expirations[key]:g}" for key in step["backoff"])


def _waiting(step: Mapping[str, Any]) -> str:
    gates = dict(entry.rsplit(":", 1) for entry in step["gated"])
    return listed(
        f"{_short(key)} (gated by {gates[key]})" if key in gates else _short(key)
        for key in step["unschedulable"]
    )
