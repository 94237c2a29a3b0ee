"""Tiny rounds in which a core of reasons is held against all plans, one by one."""

import random
from dataclasses import replace

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.groups import groups
from kubestow.solver.options import SolveOptions
from kubestow.solver.why.core import find_core
from kubestow.solver.why.counting import counting_proof, covering
from kubestow.solver.why.domains import counting_proof_of_group, domain_counts
from kubestow.solver.why.placeable import Verdict, placeable
from kubestow.solver.why.reasons import lifted, reasons_of
from kubestow.solver.why.subjects import find_subject
from support.device_rounds import tiny_mixed
from support.group_rounds import tiny_groups
from support.guard_rounds import tiny_guards
from support.oracle.placing import places_any
from support.strategies import tiny
from support.tree_rounds import tiny_trees
from support.volume_rounds import tiny_volumes

FAMILIES = (tiny, tiny_guards, tiny_groups, tiny_mixed, tiny_volumes)
OPTIONS = SolveOptions(workers=1, time_limit=20)


def asked_round(seed):
    """A round of some family, and a waiting pod of it; None where none waits."""
    rng = random.Random(seed)
    snapshot = FAMILIES[seed % len(FAMILIES)](seed)
    cluster = build_cluster(snapshot)
    waiting = (*cluster.pending, *cluster.gated)
    if not waiting:
        return None
    key = cluster.pods[rng.choice(waiting)].key
    return replace(snapshot, asked=(key,))


def asked_group(seed):
    """A round with groups, and one of which members wait, by its name; None where there is none."""
    snapshot = (tiny_groups, tiny_mixed, tiny_trees)[seed % 3](seed)
    cluster = build_cluster(snapshot)
    waiting = [group for group in groups(cluster) if group.pending or group.gated]
    if not waiting:
        return None
    name = random.Random(seed).choice(waiting).key
    keys = tuple(sorted(find_subject(cluster, name).keys))
    return replace(snapshot, asked=keys), name


def faults(snapshot, name=None):
    """What all plans say against the answer about a pod of a round; and what sort of answer it was.

    `name` is that of a group, where not the first pod that is asked about is meant.
    """
    answer = placeable(snapshot, OPTIONS).verdict
    found = places_any(build_cluster(snapshot))
    wrong = [] if (answer is Verdict.YES) == found else [f"placeable is {answer.value}, some plan: {found}"]
    cluster = build_cluster(snapshot)
    subject = find_subject(cluster, name or snapshot.asked[0])
    reasons = reasons_of(subject)
    counted = covering(subject, reasons)
    if counted is not None and found:
        wrong.append(f"counting rules out what a plan does: {[reason.text for reason in counted]}")
    rows = domain_counts(subject, reasons)
    for key in {row["key"] for row in rows} if found else ():
        if all(row["short"] for row in rows if row["key"] == key):
            wrong.append(f"no domain of {key!r} has room by counting, and some plan has one")
    if found or wrong:
        return wrong, "placed"
    core = find_core(snapshot, reasons, OPTIONS, counted)
    if not core.proven:
        wrong.append("the core is not proven")

    def plan_while(standing):
        gone = [reason for reason in reasons if reason not in standing]
        return places_any(build_cluster(lifted(snapshot, gone)))

    if plan_while(core.reasons):
        wrong.append(f"no core: {[reason.text for reason in core.reasons]}")
    for reason in core.reasons:
        if not plan_while([item for item in core.reasons if item is not reason]):
            wrong.append(f"needless: {reason.text}")
    by_counting = counting_proof(subject, core.reasons) or counting_proof_of_group(subject, core.reasons)
    return wrong, "counted" if by_counting else "searched"
