"""Nodes under construction."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...models.node import Node
from .making import made
from .values import KEYS, Document, key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Labels = Mapping[str, str] | tuple[()]


@dataclass(frozen=True, kw_only=True)
class NodeBuilder:
    """A node under construction."""

    doc: Document = field(default_factory=dict)

    def _with(self, change: Callable[[Document], object]) -> NodeBuilder:
        doc = deepcopy(self.doc)
        change(doc)
        return replace(self, doc=doc)

    def label(self, labels: Labels = (), /, **more: str) -> NodeBuilder:
        """Add labels."""
        return self._with(lambda d: d["metadata"]["labels"].update({**dict(labels), **more}))

    def without(self, *names: str) -> NodeBuilder:
        """Take labels away."""
        return self._with(lambda d: [d["metadata"]["labels"].pop(key(name), None) for name in names])

    def taint(self, name: str, value: str = "", *, effect: str = "NoSchedule") -> NodeBuilder:
        """Add a taint."""
        entry = {"key": name, "value": value, "effect": effect}
        return self._with(lambda d: d["spec"]["taints"].append(entry))

    def cordoned(self) -> NodeBuilder:
        """Take no more pods."""
        return self._with(lambda d: d["spec"].update(unschedulable=True))

    def image(self, name: str, *, size: int) -> NodeBuilder:
        """Have an image of so many bytes."""
        return self._with(lambda d: d["status"]["images"].append({"names": [name], "sizeBytes": size}))

    def declare(self, *features: str) -> NodeBuilder:
        """Declare features (KEP-5328)."""
        return self._with(lambda d: d["status"].update(declaredFeatures=list(features)))

    def offer(self, resources: Mapping[str, Any] | tuple[()] = (), /, **more: str) -> NodeBuilder:
        """Change what the node has to give: ``offer({"example.com/gpu": "8"})``."""
        return self._with(lambda d: d["status"]["allocatable"].update({**dict(resources), **more}))

    def build(self) -> Node:
        """Build the node."""
        return made(Node, self.doc)


def node(
    name: str, *, zone: str | None = None, cpu: str = "4", memory: str = "8Gi", pods: str = "110"
) -> NodeBuilder:
    """Return a node with its hostname label, and its zone's where there is one."""
    labels = {KEYS["hostname"]: name}
    if zone is not None:
        labels[KEYS["zone"]] = zone
    return NodeBuilder(
        doc={
            "metadata": {"name": name, "labels": labels},
            "spec": {"taints": []},
            "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}, "images": []},
        }
    )
