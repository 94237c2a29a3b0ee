"""Gangs of copies, counted as plain pods first.

Where no pod is evicted and a gang may be spread over all nodes, no filter asks whose members pods are: the m
members of a gang are like m plain pods of the template. Every plan of the round with gangs is one of the
round with plain pods in their place, so what bounds these bounds the members; and of a plan with p plain pods
one with p // m gangs is made, if it replays. Plain pods are one class of the model, and every gang is one of
its own: so more is found, and sooner. Source: docs/fit.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..framework.build import build_cluster
from ..framework.state.moves import Bind, Leave
from ..models import tiers
from ..models.template import Template
from .api import solve_round
from .plans.outcome import Outcome
from .plans.replay import follow, inadmissible

if TYPE_CHECKING:
    from ..framework.state.moves import Move
    from ..models.plan import Plan
    from ..models.progress import Watch
    from ..models.snapshot import Snapshot
    from ..models.template import Round
    from .options import ProgressCallback, SolveOptions
    from .plans.outcome import SolvedRound


@dataclass(frozen=True)
class PlainPods:
    """The round with plain pods in place of gangs, as far as it was solved.

    Attributes
    ----------
    plan : Plan
    known : Outcome or None
        A plan of the round with gangs that is made of it.
    """

    plan: Plan
    known: Outcome | None

    def bounds(self, plan: Plan, template: Template) -> int | None:
        """Return the most gangs of any plan that is as good in the levels above; None where that is open."""
        name = tiers.scheduled(template.level)
        for ours, theirs in zip(self.plan.tiers, plan.tiers, strict=False):
            if ours.name == name:
                return None if ours.bound is None else ours.bound // template.size
            if not ours.proven or ours.value != theirs.value:
                break
        return None


def are_plain(template: Template, search: SolveOptions) -> bool:
    """Whether members of the copies are like plain pods: nothing but `minCount` makes them a gang."""
    group, spec = template.group, template.pod.spec
    return (
        group is not None
        and search.limits.evictions == 0
        and not group.spec.scheduling_constraints.topology
        and group.spec.parent_composite_pod_group_name is None
        and group.spec.preemption_policy is None
        and not (group.spec.resource_claims or spec.resource_claims or spec.volumes)
    )


def plain_pods_first(
    snapshot: Snapshot,
    template: Template,
    gangs: Round,
    search: SolveOptions,
    progress: ProgressCallback | None,
    watch: Watch,
) -> PlainPods:
    """Solve the round of some gangs (`Template.beside`) with plain pods in their place."""
    spec = template.pod.spec.model_copy(update={"scheduling_group": None})
    alone = Template(template.pod.model_copy(update={"spec": spec}))
    around = alone.beside(snapshot, len(gangs.copies) * template.size)
    solved = solve_round(around.snapshot, search, progress, watch=watch)
    return PlainPods(solved.plan, _with_gangs(solved, around, template, gangs, search))


def _with_gangs(
    solved: SolvedRound, around: Round, template: Template, gangs: Round, search: SolveOptions
) -> Outcome | None:
    """Make whole gangs of the copies that were placed first; None where that is no plan."""
    cluster = build_cluster(replace(gangs.snapshot, limits=search.limits))
    members = iter([key for copy in gangs.copies for key in copy])
    pods = solved.cluster.pods
    placed = sum(pods[i].key in around.copy_of for i in solved.outcome.placed)
    left = placed - placed % template.size
    moves: list[Move] = []
    for move in solved.outcome.moves:
        if isinstance(move, Bind):
            key = pods[move.pod].key
            if key in around.copy_of:
                if not left:
                    continue
                left -= 1
                key = next(members)
            moves.append(Bind(cluster.pod_index[key], move.node))
        else:
            moves.append(move)
    where = {move.pod: move.node for move in moves if isinstance(move, Bind)}
    gone = dict.fromkeys(move.pod for move in moves if isinstance(move, Leave))
    outcome = Outcome(tuple(moves), where, {}, gone, solved.outcome.allocations, admissible=True)
    fault = follow(cluster, moves, outcome.allocations).fault or next(inadmissible(cluster, moves), "")
    return None if fault else outcome
