"""Whether any admissible plan places a pod, or starts a group.

Not placing other pods is admissible, so the pod is asked about alone first, beside the running pods. Others
that wait can help only where they are what it looks for, raise the minimum of its spread constraint, or evict
what it may not evict itself; where none of that can be, the answer without them is the answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...framework.build import build_cluster
from ...framework.cycle.runtime import framework_for
from ...framework.dra.extended import requested
from ...framework.rules.groups import group_of
from ...framework.rules.spread import hard_constraints, spread_matches
from ...framework.rules.supported import require_supported
from ...framework.state.moves import Bind
from ...framework.state.state import State
from ...models.tiers import ASKED
from ..decomposition.search import search_round
from ..options import SolveOptions
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..plans.replay import follow, inadmissible
from ..search.tier_search import Search

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...framework.index.cluster import Cluster
    from ...models.snapshot import Snapshot


_FEW = 64
"""Others that wait that are tried as helpers before all of them are."""
_SHARE = 0.4
"""Their share of the time."""


class Verdict(Enum):
    """The answer to the question whether a plan places the asked pods."""

    YES = "yes"
    NO = "no"
    OPEN = "open"


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer, and what shows it.

    Attributes
    ----------
    verdict : Verdict
    cluster : Cluster
        The round that was asked.
    outcome : Outcome
        A replayed plan that places the pod, where the verdict is YES.
    alone : bool
        Whether the others that wait were not needed to decide it.
    fault : str
        Why the verdict is OPEN although a plan was found: it failed its replay.
    """

    verdict: Verdict
    cluster: Cluster
    outcome: Outcome
    alone: bool
    fault: str = ""


def placeable(snapshot: Snapshot, options: SolveOptions, like: Cluster | None = None) -> Answer:
    """Ask whether an admissible plan places one of the pods that `Snapshot.asked` names.

    Parameters
    ----------
    snapshot : Snapshot
        With `asked`; a pod that is in no queue of the round is not placed by any plan. Of `kept` only pods
        that run count.
    options : SolveOptions
        `time_limit` is that of this question.
    like : Cluster, optional
        The index of a round that differs little from this one.
    """
    start = time.monotonic()
    cluster = build_cluster(snapshot, like=like)
    require_supported(cluster)
    asked = cluster.asked.intersection(cluster.pending)
    if not asked:
        return Answer(Verdict.NO, cluster, Outcome(), alone=True)
    tiers = 2 if cluster.kept else 1
    options = SolveOptions(
        time_limit=options.time_limit, workers=options.workers, seed=options.seed, tiers=tiers
    )
    at_once = _at_once(cluster, asked)
    if at_once is not None:
        return _replayed(cluster, at_once, alone=True)
    part = cluster.with_queue(together(cluster, asked))
    search = Search(build_problem(part), options, None, start)
    search.run([])
    if search.interrupted:
        raise KeyboardInterrupt
    if search.valuation.by_name()[ASKED]:
        return _replayed(part, search.best, alone=True)
    proven = search.bounds[ASKED] == 0
    if proven and not _others_may_help(cluster, asked):
        return Answer(Verdict.NO, cluster, Outcome(), alone=True)
    some = _some_helpers(cluster, asked)
    if some:
        part = cluster.with_queue([*together(cluster, asked), *some])
        seconds = _SHARE * (options.time_limit - time.monotonic() + start)
        limited = replace(options, time_limit=max(seconds, 0.1))
        search = Search(build_problem(part), limited, None, time.monotonic())
        search.run([])
        if search.valuation.by_name()[ASKED]:
            return _replayed(part, search.best, alone=False)
    found = search_round(cluster, Outcome(), options, None, start)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.valuation.by_name()[ASKED]:
        return _replayed(cluster, found.best, alone=False)
    verdict = Verdict.NO if found.bounds[ASKED][0] == 0 else Verdict.OPEN
    return Answer(verdict, cluster, Outcome(), alone=False)


def _at_once(cluster: Cluster, asked: frozenset[int]) -> Outcome | None:
    """Return the plan that binds a pod where it fits as the cluster stands, or None."""
    [pod, *more] = asked
    if more or group_of(cluster, pod) is not None:
        return None
    state, framework = State.initial(cluster), framework_for(cluster, pod)
    nodes = framework.bindable(state, pod)
    if not len(nodes):
        return None
    node = int(nodes[0])
    brought = dict(framework.reserve(state, pod, node))
    return Outcome((Bind(pod, node),), {pod: node}, allocations=brought)


def together(cluster: Cluster, asked: Iterable[int]) -> list[int]:
    """Return the asked pods and all that start with them: their groups, and the trees of these."""
    groups = {group.index: group for i in asked if (group := group_of(cluster, i)) is not None}
    if any(group.parent for group in groups.values()):
        # Members of the tree may be anywhere in it; pods outside every group are no part of one.
        return [i for i in cluster.pending if i in asked or group_of(cluster, i) is not None]
    members = {i for group in groups.values() for i in group.pending}
    return [i for i in cluster.pending if i in asked or i in members]


def _others_may_help(cluster: Cluster, asked: frozenset[int]) -> bool:
    """Whether the round has other pods that wait without which the asked ones may find no place."""
    unit = frozenset(together(cluster, asked))
    others = [cluster.pods[j] for j in cluster.pending if j not in unit]
    if not others:
        return False
    if any(hard_constraints(cluster, i) or cluster.pods[i].terms.required_affinity for i in unit):
        return True
    own = max((cluster.pods[i].priority for i in unit if cluster.pods[i].preempts), default=None)
    reach = max((info.priority for info in others if info.preempts), default=None)
    if reach is None or (own is not None and own >= reach and _looks_at_its_node_alone(cluster, unit)):
        return False
    return any(cluster.pods[v].priority < reach for v in cluster.bound if v not in cluster.kept)


def _some_helpers(cluster: Cluster, asked: frozenset[int]) -> list[int]:
    """Return a few of the others that wait, in a round with many: those that help most likely.

    They are the pods that a term or a constraint of the asked ones looks at, and the most important ones that
    may evict, of the class that asks for the least cpu.
    """
    unit = frozenset(together(cluster, asked))
    others = [i for i in cluster.pending if i not in unit]
    if len(others) <= 2 * _FEW:
        return []
    pods = cluster.pods
    seen = [
        j
        for j in others
        if any(
            spread_matches(cluster, constraint, i, j)
            for i in unit
            for constraint in hard_constraints(cluster, i)
        )
        or any(
            term.matches(pods[j].namespace, pods[j].labels)
            for i in unit
            for term in pods[i].terms.required_affinity
        )
    ]
    able = [j for j in others if pods[j].preempts and group_of(cluster, j) is None]
    able.sort(key=lambda j: (-pods[j].priority, pods[j].request[0], pods[j].cls))
    return [*dict.fromkeys((*seen[:_FEW], *able[:_FEW]))]


def _looks_at_its_node_alone(cluster: Cluster, unit: frozenset[int]) -> bool:
    """Whether only pods of its own node can keep a pod away: then it may evict what any other may."""
    apart = any(cluster.pods[v].terms.required_anti_affinity for v in cluster.bound)
    return not apart and not any(
        cluster.pods[i].terms.required_anti_affinity
        or cluster.pods[i].pod.spec.volumes
        or cluster.pods[i].pod.spec.resource_claims
        or requested(cluster, i)
        or group_of(cluster, i) is not None
        for i in unit
    )


def _replayed(cluster: Cluster, outcome: Outcome, *, alone: bool) -> Answer:
    """Return the answer YES if every step passes the filters once more; a plan that fails shows nothing."""
    run = follow(cluster, outcome.moves, outcome.allocations)
    fault = run.fault or next(inadmissible(cluster, outcome.moves), "")
    if not fault and not valuate(cluster, outcome, end=run.end).guarded:
        fault = "a guarded victim violates its budget"
    return Answer(Verdict.OPEN if fault else Verdict.YES, cluster, outcome, alone, fault)
