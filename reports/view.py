"""Which pods of an answer have rows in its tables, and what stands beside their names.

The round itself stays whole, and so do its counts: a view is about rows of pods and nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from ..framework.index.missing import condition, readable
from ..models.node import ZONE, Node
from ..models.pod import Pod
from ..models.requests import pod_requests, running_pod_requests
from ..models.selectors import CompiledSelector
from .words import listed

_ABOUT: Final = ("priority", "class", "requests")


@dataclass(frozen=True, kw_only=True)
class View:
    """What a person wants to see.

    Attributes
    ----------
    pods, nodes : mapping
        Those of the input, by key and by name.
    namespace : str or None
        The only one whose pods have rows.
    selector : CompiledSelector or None
        What labels of pods with rows satisfy.
    wide : bool
        Whether priorities, requests, zones and the like are shown.
    whole : bool
        Whether lists of names are whole, however long.
    """

    pods: Mapping[str, Pod] = field(default_factory=dict)
    nodes: Mapping[str, Node] = field(default_factory=dict)
    namespace: str | None = None
    selector: CompiledSelector | None = None
    wide: bool = False
    whole: bool = False

    def shows(self, key: str) -> bool:
        """Whether a pod (`namespace/name`) has a row."""
        if not self.shows_namespace(key):
            return False
        if self.selector is None:
            return True
        pod = self.pods.get(key)
        return self.selector.matches({} if pod is None else pod.metadata.labels)

    def shows_namespace(self, key: str) -> bool:
        """Whether an object that is no pod, such as a group or a claim, has a row."""
        return self.namespace is None or key.partition("/")[0] == self.namespace

    def shown(self, keys: Iterable[str]) -> list[str]:
        """Return the pods that have rows, of some."""
        return [key for key in keys if self.shows(key)]

    def listed(self, names: Iterable[str], limit: int = 6) -> str:
        """Join names with commas; where lists may be cut, those beyond `limit` are only counted."""
        return ", ".join(names) if self.whole else listed(names, limit)

    @property
    def filter(self) -> str:
        """Which pods have rows, in words; empty for all."""
        parts = [] if self.namespace is None else [f"in namespace {self.namespace}"]
        if self.selector is not None:
            parts.append("with " + ",".join(condition(item) for item in self.selector.requirements))
        return " ".join(parts)

    @property
    def remark(self) -> list[RenderableType]:
        """The line that says that there are rows of some pods only, while counts are of all."""
        return [Text(f"(rows of pods {self.filter}; counts are of all)", style="dim")] if self.filter else []

    # -- what stands beside a name in wide tables; nothing in others --

    @property
    def about_pod(self) -> tuple[str, ...]:
        """Headings of what is said about a pod."""
        return _ABOUT if self.wide else ()

    @property
    def numbers(self) -> tuple[int, ...]:
        """Which column is on the right of a table whose first column is a pod and what is said about it."""
        return (1,) if self.wide else ()

    @property
    def about_node(self) -> tuple[str, ...]:
        """Headings of what is said about a node."""
        return ("zone",) if self.wide else ()

    def of_pod(self, key: str) -> tuple[str, ...]:
        """Return a pod's priority, its class and what it requests."""
        if not self.wide:
            return ()
        pod = self.pods.get(key)
        if pod is None:
            return ("",) * len(_ABOUT)
        spec = pod.spec
        asked = running_pod_requests(pod) if spec.node_name else pod_requests(pod)
        requests = [f"{readable(resource, number)} {resource}" for resource, number in asked.items()]
        priority = "" if spec.priority is None else str(spec.priority)
        return priority, spec.priority_class_name or "", ", ".join(requests)

    def of_node(self, name: str | None) -> tuple[str, ...]:
        """Return a node's zone."""
        node = self.nodes.get(name or "")
        return ("" if node is None else node.metadata.labels.get(ZONE, ""),) if self.wide else ()


EVERYTHING: Final = View()
"""All pods, with no more than their names."""
