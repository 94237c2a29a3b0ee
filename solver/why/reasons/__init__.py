"""The reasons that a round may have against a pod, and the round without any of them.

One file for each sort of rule. The order of the list is the order in which a core is made smaller: what is
tried first is given up first, so that of two explanations the one stays that says most, a sum of requests.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from . import devices, evictions, nodes, pods, queue, room, volumes
from .base import Reason, Subject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....models.snapshot import Snapshot

__all__ = ["Reason", "Subject", "lifted", "reasons_of"]

_ROOMS = (evictions, volumes, pods, devices, nodes, room, queue)


def reasons_of(subject: Subject) -> list[Reason]:
    """Return all rules of the round that speak of the pods, each once."""
    found: dict[tuple[str, str, str], Reason] = {}
    for each in _ROOMS:
        for reason in each.reasons(subject):
            own = reason.object.startswith("Pod ") and reason.field.startswith("spec.")
            where = "" if own and "pods" not in reason.facts else reason.object
            key = where, reason.field, reason.text
            found[key] = _merged(found[key], reason) if key in found else reason
    return list(found.values())


def _merged(one: Reason, other: Reason) -> Reason:
    """Return a rule that several pods have in the same words: lifted, it is lifted for all of them."""
    return replace(one, lift=lambda snapshot: other.lift(one.lift(snapshot)))


def lifted(snapshot: Snapshot, reasons: Iterable[Reason]) -> Snapshot:
    """Return the round in which none of the reasons holds."""
    for reason in reasons:
        snapshot = reason.lift(snapshot)
    return snapshot
