"""Why a pod or a group waits: the question from its words to its answer.

1. Counting: marks of nodes and sums that no plan can change. It is quick, whatever the size of the round.
2. Can any plan place it? If not, a minimal core of reasons.
3. If one can: the best plan of the round, which may place it, and else the best plan that does; the first
   tier in which the two differ says what it costs, and their pods who pays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...framework.build import build_cluster
from ...framework.rules.supported import require_supported
from ...models.tiers import ASKED
from ..api import solve_both, solve_round
from ..options import SolveOptions
from ..plans.device_allocations import written
from ..plans.document import steps_of
from .core import find_core
from .counting import counting_proof, covering
from .domains import counting_proof_of_group, domain_counts
from .helpers import together
from .placeable import Verdict, placeable
from .reasons import reasons_of
from .spread_counts import spread_counts
from .subjects import find_subject

if TYPE_CHECKING:
    from ...models.plan import Plan
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback
    from .core import Core, Witness
    from .placeable import Answer
    from .reasons import Reason, Subject


def why(
    snapshot: Snapshot,
    name: str,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
) -> dict[str, Any]:
    """Answer why a pod or a group waits.

    Parameters
    ----------
    name : str
        `namespace/name` of a waiting pod or of a pod group, or the name alone where it is the only one.
    options : SolveOptions, optional
        `time_limit` is that of each step.

    Returns
    -------
    dict
        A JSON value (docs/why.md): `answer` is `placed`, `atACost`, `impossible` or `open`.

    Raises
    ------
    KubestowError
        Where nothing of that name waits.
    """
    options = options or SolveOptions()
    cluster = build_cluster(snapshot)
    require_supported(cluster)
    subject = find_subject(cluster, name)
    asked = replace(snapshot, asked=tuple(sorted(subject.keys)))
    document: dict[str, Any] = {
        "instance": snapshot.name,
        "subject": subject.name,
        "priority": max(info.priority for info in subject.infos),
        "pods": [info.key for info in subject.infos],
    }
    reasons = reasons_of(subject)
    counted = covering(subject, reasons)
    if counted is None:
        answer = placeable(asked, options, cluster)
        if answer.verdict is Verdict.YES:
            return {**document, **_placeable(snapshot, asked, answer, subject, options, progress)}
        if answer.verdict is Verdict.OPEN:
            return {**document, **_by_itself(asked, subject, options)}
    core = find_core(asked, reasons, options, counted, cluster)
    return {**document, **_impossible(subject, core)}


# -- it cannot be placed --


def _impossible(subject: Subject, core: Core) -> dict[str, Any]:
    proof = counting_proof(subject, core.reasons) or counting_proof_of_group(subject, core.reasons)
    rows = [
        {**reason.document(), **_counts(subject, reason), "without": _witness(witness)}
        for reason, witness in zip(core.reasons, core.witnesses, strict=True)
    ]
    domains = domain_counts(subject, core.reasons)
    return {
        "answer": "impossible" if core.proven else "open",
        "core": rows,
        "proof": proof or {"kind": "search"},
        "roundsAsked": core.asked,
        **({"domains": domains} if domains else {}),
    }


def _by_itself(asked: Snapshot, subject: Subject, options: SolveOptions) -> dict[str, Any]:
    """Answer for the pods beside what runs, where it is open what others that wait could do for them.

    Where they have a place there, the whole round has it as well: then the core is empty.
    """
    unit = frozenset(subject.cluster.pods[i].key for i in together(subject.cluster, subject.pods))
    kept = tuple(pod for pod in asked.pods if pod.spec.node_name or pod.key in unit | subject.keys)
    alone = replace(asked, pods=kept)
    cluster = build_cluster(alone, like=subject.cluster)
    single = find_subject(cluster, subject.name.partition(" ")[2])
    reasons = reasons_of(single)
    core = find_core(alone, reasons, options, covering(single, reasons), cluster)
    return {**_impossible(single, core), "answer": "open", "beside": "what runs" if core.proven else None}


def _counts(subject: Subject, reason: Reason) -> dict[str, Any]:
    if reason.kind != "topologySpread" or "constraint" not in reason.facts:
        return {}
    return {"counts": spread_counts(subject, reason.facts["constraint"])}


def _witness(witness: Witness) -> dict[str, Any]:
    """Return how the pods are placed without a reason: the steps of a replayed plan, if one is known."""
    answer, others = witness.answer, "standing" if witness.alone else "lifted"
    if answer.verdict is not Verdict.YES:
        return {"others": others, "placed": {}, "evicted": [], "steps": [], "allocations": []}
    cluster, outcome = answer.cluster, answer.outcome
    placed = {
        cluster.pods[i].key: cluster.node_names[n]
        for i, n in outcome.placed.items()
        if cluster.pods[i].key in cluster.snapshot.asked
    }
    victims = [cluster.pods[v].key for v in outcome.victims if not cluster.pods[v].terminating]
    return {
        "others": others,
        "placed": placed,
        "evicted": sorted(victims),
        "steps": [step.model_dump(by_alias=True) for step in steps_of(cluster, outcome)],
        "allocations": list(written(outcome.allocations)),
    }


# -- it can be placed --


def _placeable(
    snapshot: Snapshot,
    asked: Snapshot,
    answer: Answer,
    subject: Subject,
    options: SolveOptions,
    progress: ProgressCallback | None,
) -> dict[str, Any]:
    best, greedy = solve_both(snapshot, options, progress)
    keys = subject.keys
    if placed := {pod: node for pod, node in best.placed().items() if pod in keys}:
        return {"answer": "placed", **_placed(best, greedy, placed)}
    forced = solve_round(asked, options, progress, known=answer.outcome).plan
    return {"answer": "atACost", **_cost(best, forced, keys)}


def _placed(best: Plan, greedy: Plan, placed: dict[str, str]) -> dict[str, Any]:
    messages = {item.pod: item.message for item in greedy.unschedulable}
    victims = {item.pod: list(item.victims) for item in best.nominations}
    return {
        "status": best.status,
        "placed": placed,
        "victims": sorted({v for pod in placed for v in victims.get(pod, ())}),
        "greedy": {pod: greedy.placed().get(pod) for pod in placed},
        "greedyMessages": {pod: messages[pod] for pod in placed if pod in messages},
        "evidence": _evidence(best),
    }


def _evidence(plan: Plan) -> dict[str, Any]:
    """Return what a replay of a plan needs."""
    return {
        "steps": [step.model_dump(by_alias=True) for step in plan.steps],
        "allocations": list(plan.allocations),
    }


def _cost(best: Plan, forced: Plan, keys: frozenset[str]) -> dict[str, Any]:
    """Compare the best plan with the best one that places the pods."""
    theirs = [tier for tier in forced.tiers if tier.name != ASKED]
    first = next(
        ((b, f) for b, f in zip(best.tiers, theirs, strict=True) if b.value != f.value), (None, None)
    )
    before, after = first
    tier = None
    if before is not None and after is not None:
        tier = {
            "name": before.name,
            "sense": before.sense,
            "best": before.value,
            "with": after.value,
            "proven": before.proven and after.proven,
        }
    ours, placed = best.placed(), forced.placed()
    return {
        "status": best.status if best.status == forced.status else "FEASIBLE",
        "tier": tier,
        "placed": {pod: node for pod, node in placed.items() if pod in keys},
        "leftOut": sorted(ours.keys() - placed.keys()),
        "evicted": sorted({e.pod for e in forced.evictions} - {e.pod for e in best.evictions}),
        "evidence": _evidence(forced),
        "spared": sorted({e.pod for e in best.evictions} - {e.pod for e in forced.evictions}),
    }
