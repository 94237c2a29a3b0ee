"""Nodes and zones that events of a scenario name: one that can never exist is a slip of the pen."""

import re
from collections.abc import Sequence

from ..models.node import Node
from ..models.scenario import Autoscaler, Cordon, Drain, Put, TimedEvent, Zone
from ..models.snapshot import Snapshot
from .scenario_reader import Section


def refuse_unknown_nodes(
    sections: Sequence[Section],
    events: Sequence[TimedEvent],
    snapshot: Snapshot,
    autoscaler: Autoscaler | None,
) -> None:
    """Refuse events about nodes, and zones of them, that neither the cluster has nor anything adds.

    Parameters
    ----------
    sections : sequence of Section
        Where the events stand.
    events : sequence of TimedEvent
        In the order of the sections.
    snapshot : Snapshot
    autoscaler : Autoscaler or None
        Its groups number their nodes.

    Raises
    ------
    InputError
        For the first of them.
    """
    puts = [event.action for event in events if isinstance(event.action, Put)]
    groups = {group.name: group.template for group in autoscaler.groups} if autoscaler is not None else {}
    nodes = [*snapshot.nodes, *(item for put in puts for item in put.objects if isinstance(item, Node))]
    known = {node.name for node in nodes}
    labels = {pair for node in (*nodes, *groups.values()) for pair in node.metadata.labels.items()}
    for section, event in zip(sections, events, strict=True):
        action = event.action
        if isinstance(action, Zone) and (action.key, action.value) not in labels:
            field = "zoneDown" if action.dark else "zoneUp"
            label = f"{action.key}={action.value}"
            raise section.fault(
                field, f"no node has the label {label}: none in the cluster, and none is added"
            )
        if not isinstance(action, (Cordon, Drain)) or action.node in known:
            continue
        ordered = re.fullmatch(r"(.+)-\d+", action.node)
        if ordered is None or ordered[1] not in groups:
            field = "drain" if isinstance(action, Drain) else "cordon" if action.on else "uncordon"
            raise section.fault(
                field, f"there is no node {action.node!r}: not in the cluster, and nothing adds it"
            )
