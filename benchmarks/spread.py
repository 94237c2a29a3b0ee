"""The openb trace as apps that are spread over zones: what room alone no longer decides."""

from dataclasses import replace
from typing import Any

from kubestow.models.node import ZONE, Node
from kubestow.models.pod import Pod, TopologySpreadConstraint
from kubestow.models.selectors import LabelSelector
from kubestow.models.snapshot import Snapshot

from .contest import HOW_TO_READ, columns, contest, present, raw
from .openb import trace
from .registry import BenchSpec, Case, Column, register

APPS, ZONES, MAX_SKEW = 40, 3, 2


def in_apps(snapshot: Snapshot) -> Snapshot:
    """Deal the pods out to apps, each spread over zones, and the nodes to the zones."""
    nodes = tuple(_in_zone(node, f"zone-{k % ZONES}") for k, node in enumerate(snapshot.nodes))
    pods = tuple(_of_app(pod, f"app-{k % APPS}") for k, pod in enumerate(snapshot.pods))
    return replace(snapshot, nodes=nodes, pods=pods)


def _in_zone(node: Node, zone: str) -> Node:
    labels = {**node.metadata.labels, ZONE: zone}
    return node.model_copy(update={"metadata": node.metadata.model_copy(update={"labels": labels})})


def _of_app(pod: Pod, app: str) -> Pod:
    labels = {**pod.metadata.labels, "app": app}
    even = TopologySpreadConstraint(
        max_skew=MAX_SKEW,
        topology_key=ZONE,
        when_unsatisfiable="DoNotSchedule",
        label_selector=LabelSelector(match_labels={"app": app}),
    )
    return pod.model_copy(
        update={
            "metadata": pod.metadata.model_copy(update={"labels": labels}),
            "spec": pod.spec.model_copy(update={"topology_spread_constraints": (even,)}),
        }
    )


def measure(nodes: int, shuffle: int | None, gpus: str, pods: int, seconds: float) -> dict[str, Any]:
    """Plan a part of the trace in apps."""
    snapshot = in_apps(trace(nodes, shuffle, gpus, pods))
    return {"pending": len(snapshot.pods), **raw(contest(snapshot, seconds))}


def case(nodes: int, shuffle: int | None, gpus: str, seconds: float, pods: int = 0) -> Case:
    return {"nodes": nodes, "shuffle": shuffle, "gpus": gpus, "pods": pods, "seconds": seconds}


SPREAD = register(
    BenchSpec(
        name="spread",
        title="The openb trace, spread over zones",
        about=f"""
The same trace with its pods dealt out to {APPS} apps, each spread over {ZONES} zones (`maxSkew: {MAX_SKEW}`,
`DoNotSchedule`), and the nodes to the zones in turn: as many pods as in *The openb trace*, GPUs as a summed
resource or as devices."""
        + HOW_TO_READ,
        cases=tuple(
            case(nodes, shuffle, gpus, 30.0)
            for gpus in ("summed", "devices")
            for nodes in (76, 304)
            for shuffle in (1, 2)
        ),
        quick=(case(3, None, "summed", 0.5, pods=12),),
        measure=measure,
        fold=present,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pending:,}"),
            Column("shuffle", "{shuffle}"),
            Column("GPUs", "{gpus}"),
            Column("time, s", "{seconds:g}"),
            *columns(),
        ),
    )
)
