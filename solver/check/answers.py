"""Checks of the answers of `explain --why`: every claim that carries its own evidence.

- Each rule of the core is one of the input, as it was written.
- Without it the pod has a place: the steps are replayed in the round in which it is lifted.
- The sums, where the proof is one, are added up once more (`recount`).
- A proof by the solver is searched once more, step by step, where the round is small (`exhaustive`), else it
  is solved once more by a model that shares nothing with the first one (`booleans`).
- A pod that has a place, at a cost or not, has one: the steps are replayed.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from ...framework.build import build_cluster
from ...models.errors import KubestowError
from ...models.plan import Plan, Stats, Step
from ..plans.device_allocations import chosen_devices, written
from ..plans.objective import valuate
from ..plans.replay import ReplayFailure, follow, inadmissible, moves_of, outcome_of
from ..why.domains import counting_proof_of_group, domain_counts
from ..why.reasons import lifted, reasons_of
from ..why.spread_counts import counts_of
from ..why.subjects import find_subject
from .exhaustive import MOST_NODES, places_any
from .prices import fault_of_place, fault_of_price
from .recount import faults_of_counting
from .shapes import require_answer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...framework.index.cluster import Cluster
    from ...models.snapshot import Snapshot
    from ..plans.outcome import Outcome
    from ..why.reasons import Reason, Subject


_UNREAD = ("status", "greedy", "greedyMessages", "roundsAsked", "beside", "allCores")
_UNREAD_OF_TIER = ("bestBound", "withBound", "proven", "certain")


class Finding(NamedTuple):
    """One claim and what came of its check: `holds` is None where it was not checked."""

    claim: str
    holds: bool | None
    how: str

    def document(self) -> dict[str, Any]:
        """Return it as a JSON value."""
        return {"claim": self.claim, "holds": self.holds, "how": self.how}


def check_answer(snapshot: Snapshot, document: Mapping[str, Any]) -> list[Finding]:
    """Check an answer of `explain --why -o json` against the input that it is about.

    Raises
    ------
    KubestowError
        Where the document is no such answer, or speaks of a pod that the input does not have.
    """
    require_answer(document)
    try:
        return [*_findings(snapshot, document), *_unread(document)]
    except (AttributeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise KubestowError(f"no document of `kubestow explain --why -o json`: {error!r}") from None


def _unread(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Name the fields that the check does not look at, each once."""
    told = {name for name in _UNREAD if name in document}
    told |= {f"tier.{name}" for name in _UNREAD_OF_TIER if name in (document.get("tier") or ())}
    if told:
        yield Finding(f"fields beside the evidence: {', '.join(sorted(told))}", None, "not looked at")


def _findings(snapshot: Snapshot, document: Mapping[str, Any]) -> Iterator[Finding]:
    cluster = build_cluster(snapshot)
    name = document["subject"].partition(" ")[2]
    subject = find_subject(cluster, name)
    pods = [info.key for info in subject.infos]
    if (document["subject"], document["pods"]) != (subject.name, pods):
        yield Finding(f"it is about {document['subject']}", False, f"{subject.name} has {', '.join(pods)}")
        return
    highest = max(info.priority for info in subject.infos)
    yield Finding(f"its priority is {document['priority']}", document["priority"] == highest, "looked up")
    asked = replace(snapshot, asked=tuple(sorted(subject.keys)))
    if document["answer"] in ("placed", "atACost", "placeable"):
        yield from _place(asked, subject, document)
        return
    if "core" not in document:
        yield Finding("time was out before an answer was proven", None, "nothing is claimed")
        return
    yield from _core(snapshot, asked, subject, document)
    for other in document.get("otherCores", ()):
        yield from _core(snapshot, asked, subject, {**document, **other, "domains": None})


def _core(
    snapshot: Snapshot, asked: Snapshot, subject: Subject, document: Mapping[str, Any]
) -> Iterator[Finding]:
    """Check one set of rules: each is one of the input, none is needless, together they keep the pods."""
    known = {reason.identity: reason for reason in reasons_of(subject)}
    core: list[Reason] = []
    rows = [(row["kind"], row["object"], row["field"], row["text"]) for row in document["core"]]
    if len({*rows}) < len(rows):
        yield Finding("each rule is there once", False, "a rule of the core is there twice")
        return
    for row in document["core"]:
        reason = known.get((row["kind"], row["object"], row["field"], row["text"]))
        claim = f"{row['object']}: {row['text']}"
        holds = reason is not None and _as_told(subject, reason, row)
        yield Finding(claim, holds, "looked up in the input")
        if reason is None:
            return
        core.append(reason)
    for reason, row in zip(core, document["core"], strict=True):
        alone = row["without"]["others"] == "standing"
        gone = [item for item in known.values() if item is reason or not (alone or item in core)]
        claim = f"without it there is a place: {row['text']}"
        open_ = document["answer"] == "open"
        yield _replayed(claim, lifted(asked, gone), row["without"], open_=open_)
    if document.get("domains") is not None and not document.get("beside"):
        same = domain_counts(subject, core) == document["domains"]
        yield Finding("the room of each domain", same, "counted once more")
    if document["answer"] == "open":
        yield Finding("while all of them stand no plan places it", None, "the answer leaves it open")
        return
    others = [reason for reason in known.values() if reason not in core]
    yield from _impossible(snapshot, lifted(asked, others), subject, core, document)


def _as_told(subject: Subject, reason: Reason, row: Mapping[str, Any]) -> bool:
    """Whether the facts and the counts of a rule are those of the input."""
    counts = counts_of(subject, reason).get("counts")
    facts = json.loads(json.dumps(dict(reason.facts)))
    return row.get("facts", {}) == facts and row.get("counts") == counts


def _place(asked: Snapshot, subject: Subject, document: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that a plan places the pods, and what it is said to cost, as far as both plans are given."""
    claim = f"{subject.name} has a place"
    yield (found := _replayed(claim, asked, document["evidence"]))
    if not found.holds:
        return
    cluster = build_cluster(asked)
    forced = _outcome(cluster, document["evidence"])
    fault = fault_of_place(cluster, forced, document)
    yield Finding("where it is placed, and who leaves for it", not fault, fault or "read off the steps")
    if document["answer"] != "atACost":
        return
    if "bestEvidence" not in document:
        yield Finding("what it costs", None, "the best plan is not given")
        return
    unasked = build_cluster(replace(asked, asked=()))
    wrong = _fault_of_steps(unasked, document["bestEvidence"])
    wrong = wrong or fault_of_price(asked, _outcome(unasked, document["bestEvidence"]), forced, document)
    yield Finding("what it costs beside the plan given as the best", not wrong, wrong or "both replayed")
    yield Finding("that plan is the best one without it", None, "the solver's word")


def _replayed(claim: str, asked: Snapshot, evidence: Mapping[str, Any], *, open_: bool = False) -> Finding:
    """Replay steps; they have to place one of the pods that the round is asked about.

    An answer that was left open (`open_`) need not have any.
    """
    if not evidence["steps"]:
        return Finding(claim, None if open_ else False, "no steps are given for it")
    cluster = build_cluster(asked)
    try:
        fault = _fault_of_steps(cluster, evidence)
    except ReplayFailure as error:
        fault = str(error)
    return Finding(claim, not fault, fault or f"{len(evidence['steps'])} steps replayed")


def _plan(cluster: Cluster, evidence: Mapping[str, Any]) -> Plan:
    return Plan(
        instance=cluster.snapshot.name,
        scheduler="optimal",
        status="FEASIBLE",
        tiers=(),
        steps=tuple(Step.model_validate(step) for step in evidence["steps"]),
        allocations=tuple(evidence["allocations"]),
        stats=Stats(),
    )


def _outcome(cluster: Cluster, evidence: Mapping[str, Any]) -> Outcome:
    plan = _plan(cluster, evidence)
    return outcome_of(plan, moves_of(cluster, plan), chosen_devices(cluster, plan))


def _fault_of_steps(cluster: Cluster, evidence: Mapping[str, Any]) -> str:
    """Return what is wrong with steps; they have to place a pod that is asked about, where any is."""
    outcome = _outcome(cluster, evidence)
    if sorted(evidence["allocations"], key=lambda item: item["claim"]) != list(written(outcome.allocations)):
        return "allocations are not those of devices that the input has, or not of the steps"
    run = follow(cluster, outcome.moves, outcome.allocations)
    fault = run.fault or next(inadmissible(cluster, outcome.moves), "")
    if not fault and cluster.asked and cluster.asked.isdisjoint(outcome.placed):
        return "the steps do not place it"
    if not fault and not valuate(cluster, outcome).guarded:
        return "a guarded victim violates its budget"
    return fault or (_fault_of_summary(cluster, outcome, evidence) if cluster.asked else "")


def _fault_of_summary(cluster: Cluster, outcome: Outcome, evidence: Mapping[str, Any]) -> str:
    """Compare who is said to be placed and evicted, where that is said, with the steps."""
    pods = cluster.pods
    placed = {pods[i].key: cluster.node_names[n] for i, n in outcome.placed.items() if i in cluster.asked}
    if evidence.get("placed", placed) != placed:
        return "placed is not where the steps bind the pods"
    evicted = sorted(pods[v].key for v in outcome.victims if not pods[v].terminating)
    if evidence.get("evicted", evicted) != evicted:
        return "evicted is not who leaves in the steps"
    return ""


def _impossible(
    snapshot: Snapshot,
    round_: Snapshot,
    subject: Subject,
    core: list[Reason],
    document: Mapping[str, Any],
) -> Iterator[Finding]:
    """Check that no plan places the pods while the core stands, in one of the ways that there are."""
    claim = "while all of them stand no plan places it"
    proof = document["proof"]
    if proof["kind"] == "counting":
        [key] = document["pods"]
        faults = list(faults_of_counting(snapshot, key, document["core"], proof))
        how = f"{len(proof['nodes'])} nodes added up once more"
        yield Finding(claim, not faults, faults[0] if faults else how)
    elif proof["kind"] == "countingByDomain":
        mine = counting_proof_of_group(subject, core)
        same = mine is not None and mine["domains"] == proof["domains"]
        yield Finding(claim, same, f"{len(proof['domains'])} domains counted once more")
    cluster = build_cluster(round_)
    found = places_any(cluster)
    if found is not None:
        yield Finding(claim, not found, "every step after every other tried")
    elif proof["kind"] == "search":
        yield _solved_again(claim, cluster, core)


def _solved_again(claim: str, cluster: Cluster, core: list[Reason]) -> Finding:
    """Solve a round that is too large to be searched, by a model of its own."""
    if cluster.n_nodes > MOST_NODES:
        return Finding(claim, None, f"more than {MOST_NODES} nodes: the solver's word")
    from .booleans.resolve import UNSEEN, solved_again

    found = solved_again(cluster)
    if found is not None:
        how = "a plan places it: it is replayed" if found else "solved once more, with plain Booleans"
        return Finding(claim, not found, how)
    unseen = dict.fromkeys(reason.text for reason in core if reason.kind in UNSEEN)
    why = (
        f"not judged by the second model: {'; '.join(unseen)}" if unseen else "open in the second model, too"
    )
    return Finding(claim, None, f"{why}: the solver's word")
