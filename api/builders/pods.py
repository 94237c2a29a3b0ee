"""Pods under construction."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...models.errors import KubestowError
from ...models.pod import Pod
from ..arguments import whole
from .making import made
from .placement import PlacedDraft, own_selectors
from .values import Document, ago

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .placement import Labels


@dataclass(frozen=True, kw_only=True)
class PodBuilder(PlacedDraft):
    """A pod under construction."""

    copies: int = 0

    def _spec(self, **fields: Any) -> PodBuilder:
        return self.changed(lambda d: d["spec"].update(fields))

    def _container(self, change: Callable[[Document], object]) -> PodBuilder:
        return self.changed(lambda d: change(d["spec"]["containers"][0]))

    # -- what it is --

    def named(self, name: str) -> PodBuilder:
        """Have another name."""
        return self.changed(lambda d: d["metadata"].update(name=name))

    def label(self, labels: Labels = (), /, **more: str) -> PodBuilder:
        """Add labels."""
        return self.changed(lambda d: d["metadata"]["labels"].update({**dict(labels), **more}))

    def times(self, copies: int) -> PodBuilder:
        """Be so many pods, `name-0`, `name-1` ..."""
        whole("times", copies, 1)
        return replace(self, copies=copies)

    def owned(self, owner: str = "ReplicaSet/web") -> PodBuilder:
        """Have a controller, `KIND/NAME`, that makes it again."""
        kind, slash, name = owner.partition("/")
        if not slash:
            raise KubestowError(f"owner: must be KIND/NAME, such as ReplicaSet/web, not {owner!r}")
        reference = {"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": True}
        return self.changed(lambda d: d["metadata"].update(ownerReferences=[reference]))

    def annotate(self, name: str, text: str) -> PodBuilder:
        """Have an annotation."""
        return self.changed(lambda d: d["metadata"].setdefault("annotations", {}).update({name: text}))

    # -- what it asks for --

    def req(self, resources: Labels = (), /, **more: str) -> PodBuilder:
        """Request resources: ``req(cpu="1", memory="2Gi")``, ``req({"example.com/gpu": "1"})``."""
        wanted = {**dict(resources), **more}
        return self._container(
            lambda c: c.setdefault("resources", {}).setdefault("requests", {}).update(wanted)
        )

    def image(self, name: str) -> PodBuilder:
        """Run an image."""
        return self._container(lambda c: c.update(image=name))

    def host_port(self, port: int, *, protocol: str = "TCP", ip: str | None = None) -> PodBuilder:
        """Take a port of the node."""
        entry = {"containerPort": port, "hostPort": port, "protocol": protocol, "hostIP": ip}
        return self._container(lambda c: c.setdefault("ports", []).append(entry))

    # -- its volumes --

    def claim(self, *names: str) -> PodBuilder:
        """Use claims by name."""
        return self._volumes({"persistentVolumeClaim": {"claimName": name}} for name in names)

    def ephemeral(self, name: str) -> PodBuilder:
        """Have a volume whose claim is made for the pod, as `<pod>-<name>`."""
        return self._volumes([{"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}])

    def disk(self, name: str, *, read_only: bool = False) -> PodBuilder:
        """Have a disk of Google's cloud."""
        return self._volumes([{"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}])

    def volume(self, **source: Any) -> PodBuilder:
        """Have a volume as written."""
        return self._volumes([source])

    def _volumes(self, sources: Iterable[Document]) -> PodBuilder:
        def add(doc: Document) -> None:
            volumes = doc["spec"].setdefault("volumes", [])
            for source in sources:
                volumes.append({"name": f"v{len(volumes)}"} | source)

        return self.changed(add)

    # -- its rank --

    def priority(self, value: int) -> PodBuilder:
        """Have a priority."""
        return self._spec(priority=value)

    def of_class(self, name: str) -> PodBuilder:
        """Have a priority class: its value is the pod's priority (`priority_class`)."""
        return self._spec(priorityClassName=name)

    def never(self) -> PodBuilder:
        """Set preemptionPolicy Never."""
        return self._spec(preemptionPolicy="Never")

    def guard(self, value: int) -> PodBuilder:
        """Set allowDisruptionByPriorityGreaterThanOrEqual (KEP-4664)."""
        return self._spec(allowDisruptionByPriorityGreaterThanOrEqual=value)

    def scheduler(self, name: str) -> PodBuilder:
        """Have a scheduler profile of this name."""
        return self._spec(schedulerName=name)

    def member(self, group: str) -> PodBuilder:
        """Belong to a PodGroup."""
        return self._spec(schedulingGroup={"podGroupName": group})

    def replica(self, workload: str, group: str, replica: str = "") -> PodBuilder:
        """Belong to a replica of a group of a Workload of v1alpha1."""
        return self._spec(workloadRef={"name": workload, "podGroup": group, "podGroupReplicaKey": replica})

    def gated(self, name: str = "example.com/wait") -> PodBuilder:
        """Have a scheduling gate."""
        return self.changed(lambda d: d["spec"].setdefault("schedulingGates", []).append({"name": name}))

    # -- where it stands --

    def on(self, name: str) -> PodBuilder:
        """Run on a node."""

        def run(doc: Document) -> None:
            doc["spec"]["nodeName"] = name
            doc["status"]["phase"] = "Running"

        return self.changed(run)

    def started(self, minutes: float) -> PodBuilder:
        """Have started so many minutes before the round."""
        return self.changed(lambda d: d["status"].update(startTime=ago(minutes)))

    def created(self, minutes: float) -> PodBuilder:
        """Have been created so many minutes before the round."""
        return self.changed(lambda d: d["metadata"].update(creationTimestamp=ago(minutes)))

    def terminating(self) -> PodBuilder:
        """Be on the way out since the time of the round."""
        return self.changed(lambda d: d["metadata"].update(deletionTimestamp=ago(0)))

    def nominated(self, name: str) -> PodBuilder:
        """Have been nominated for a node."""
        return self.changed(lambda d: d["status"].update(nominatedNodeName=name))

    def condition(
        self, kind: str, status: str, *, reason: str | None = None, minutes: float = 5
    ) -> PodBuilder:
        """Have a condition since so many minutes."""
        entry = {"type": kind, "status": status, "reason": reason, "lastTransitionTime": ago(minutes)}
        return self.changed(lambda d: d["status"].setdefault("conditions", []).append(entry))

    def unschedulable(self, minutes: float = 5) -> PodBuilder:
        """Have been tried in vain: with it the fallback criterion PreemptionFailed holds (KEP-3990)."""
        return self.condition("PodScheduled", "False", reason="Unschedulable", minutes=minutes)

    # -- done --

    def build(self) -> Pod:
        """Build the one pod."""
        doc = deepcopy(self.doc)
        own = {"matchLabels": dict(doc["metadata"]["labels"])}
        own_selectors(doc["spec"], own)
        return made(Pod, doc)

    def build_all(self) -> Iterator[Pod]:
        """Build all the copies."""
        if not self.copies:
            yield self.build()
        name = self.doc["metadata"]["name"]
        yield from (self.named(f"{name}-{k}").build() for k in range(self.copies))


def pod(name: str, *, namespace: str = "default") -> PodBuilder:
    """Return a pod that asks for nothing."""
    return PodBuilder(
        doc={
            "metadata": {"name": name, "namespace": namespace, "labels": {}},
            "spec": {"containers": [{"name": "main"}]},
            "status": {},
        }
    )
