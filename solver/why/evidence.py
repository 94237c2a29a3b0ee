"""What an answer carries so that others can replay it: steps, and the devices that they allocate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..plans.device_allocations import written
from ..plans.document import steps_of

if TYPE_CHECKING:
    from ...models.plan import Plan
    from .core import Witness
    from .placeable import Answer


def evidence_of(plan: Plan) -> dict[str, Any]:
    """Return what a replay of a plan needs."""
    return {
        "steps": [step.model_dump(by_alias=True) for step in plan.steps],
        "allocations": list(plan.allocations),
    }


def placement(answer: Answer) -> dict[str, Any]:
    """Return where the plan of an answer places the asked pods, whom it evicts, and its evidence."""
    placed, evicted, evidence = _placement(answer)
    return {"placed": placed, "evicted": evicted, "evidence": evidence}


def without(witness: Witness) -> dict[str, Any]:
    """Return how the pods are placed without a reason: the steps of a replayed plan, if one is known."""
    answer, others = witness.answer, "standing" if witness.alone else "lifted"
    if not answer.places:
        return {"others": others, "placed": {}, "evicted": [], "steps": [], "allocations": []}
    placed, evicted, evidence = _placement(answer)
    return {"others": others, "placed": placed, "evicted": evicted, **evidence}


def _placement(answer: Answer) -> tuple[dict[str, str], list[str], dict[str, Any]]:
    cluster, outcome = answer.cluster, answer.outcome
    placed = {
        cluster.pods[i].key: cluster.node_names[n]
        for i, n in outcome.placed.items()
        if cluster.pods[i].key in cluster.snapshot.asked
    }
    evicted = sorted(cluster.pods[v].key for v in outcome.victims if not cluster.pods[v].terminating)
    evidence = {
        "steps": [step.model_dump(by_alias=True) for step in steps_of(cluster, outcome)],
        "allocations": list(written(outcome.allocations)),
    }
    return placed, evicted, evidence
