"""Whether any admissible plan places a pod, or starts a group.

Not placing other pods is admissible, so the pod is asked about alone first, beside the running pods: the
framework's cycle often finds a place at once (`witness`), else the round of the pod alone is searched. Others
that wait are added only where they could help (`helpers`); where none could, the answer without them is the
answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...framework.build import build_cluster
from ...framework.rules.groups import group_of
from ...framework.rules.supported import require_supported
from ...models.tiers import ASKED
from ..decomposition.search import search_round
from ..options import SolveOptions
from ..plans.objective import valuate
from ..plans.outcome import Outcome
from ..plans.replay import follow, inadmissible
from ..search.tier_search import Search
from .helpers import helpers, looked_at, together
from .witness import after_another, by_themselves

if TYPE_CHECKING:
    from collections.abc import Sequence

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

    @property
    def places(self) -> bool:
        """Whether there is a plan that places the pod."""
        return self.verdict is Verdict.YES


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
    unit = together(cluster, asked)
    single = unit[0] if len(unit) == 1 else None
    for plan in by_themselves(cluster, sorted(unit, key=lambda i: i not in asked)):
        answer = _replayed(cluster, plan, alone=True)
        if answer.verdict is Verdict.YES:
            return answer
    part = cluster.with_queue(unit)
    search = Search(build_problem(part), options, None, start)
    search.run([])
    if search.interrupted:
        raise KeyboardInterrupt
    if search.valuation.by_name()[ASKED]:
        return _replayed(part, search.best, alone=True)
    others = helpers(cluster, asked)
    if search.bounds[ASKED] == 0 and not others:
        return Answer(Verdict.NO, cluster, Outcome(), alone=True)
    wanted = frozenset(looked_at(cluster, unit, others))
    for plan in after_another(cluster, single, others, wanted) if single is not None else ():
        answer = _replayed(cluster, plan, alone=False)
        if answer.verdict is Verdict.YES:
            return answer
    return _with_others(cluster, unit, others, options, start)


def _with_others(
    cluster: Cluster, unit: Sequence[int], others: Sequence[int], options: SolveOptions, start: float
) -> Answer:
    """Search the round of some pods and all that could help them; of many, a few first."""
    some = _most_likely(cluster, unit, others)
    if some:
        part = cluster.with_queue([*unit, *some])
        seconds = _SHARE * (options.time_limit - time.monotonic() + start)
        limited = replace(options, time_limit=max(seconds, 0.1))
        search = Search(build_problem(part), limited, None, time.monotonic())
        search.run([])
        if search.valuation.by_name()[ASKED]:
            return _replayed(part, search.best, alone=False)
    part = cluster.with_queue([*unit, *others])
    found = search_round(part, Outcome(), options, None, start)
    if found.interrupted:
        raise KeyboardInterrupt
    if found.valuation.by_name()[ASKED]:
        return _replayed(part, found.best, alone=False)
    verdict = Verdict.NO if found.bounds[ASKED][0] == 0 else Verdict.OPEN
    return Answer(verdict, cluster, Outcome(), alone=False)


def _most_likely(cluster: Cluster, unit: Sequence[int], others: Sequence[int]) -> list[int]:
    """Return a few of many others: those that help most likely.

    They are the pods that a term or a constraint of the asked ones looks at, and the most important ones that
    may evict, of the class that asks for the least cpu.
    """
    if len(others) <= 2 * _FEW:
        return []
    pods = cluster.pods
    seen = looked_at(cluster, unit, others)
    able = [j for j in others if pods[j].preempts and group_of(cluster, j) is None]
    able.sort(key=lambda j: (-pods[j].priority, pods[j].request[0], pods[j].cls))
    return [*dict.fromkeys((*seen[:_FEW], *able[:_FEW]))]


def _replayed(cluster: Cluster, outcome: Outcome, *, alone: bool) -> Answer:
    """Return the answer YES if every step passes the filters once more; a plan that fails shows nothing."""
    run = follow(cluster, outcome.moves, outcome.allocations)
    fault = run.fault or next(inadmissible(cluster, outcome.moves), "")
    if not fault and cluster.asked.isdisjoint(outcome.placed):
        fault = "it does not place the pod"
    if not fault and not valuate(cluster, outcome, end=run.end).guarded:
        fault = "a guarded victim violates its budget"
    return Answer(Verdict.OPEN if fault else Verdict.YES, cluster, outcome, alone, fault)
