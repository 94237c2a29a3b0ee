"""Objects as they can be posted: priorities stand in classes, since an API server takes them from there."""

from __future__ import annotations

from typing import Any

Manifest = dict[str, Any]


def plain(objects: list[Manifest]) -> list[Manifest]:
    """Return objects whose pods name classes for their priorities, after the classes.

    The admission plugin Priority refuses a pod whose `spec.priority` is not that of its class; 0 is what a
    pod without a class has.
    """
    found = []
    priorities = set()
    for item in objects:
        priority = item.get("spec", {}).get("priority") if item["kind"] == "Pod" else None
        if priority is None:
            found.append(item)
            continue
        spec = {key: value for key, value in item["spec"].items() if key != "priority"}
        if priority:
            priorities.add(priority)
            spec["priorityClassName"] = _name(priority)
        found.append({**item, "spec": spec})
    return [*map(_priority_class, sorted(priorities)), *found]


def _name(priority: int) -> str:
    return f"priority-{priority}"


def _priority_class(priority: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": _name(priority)},
        "value": priority,
    }
