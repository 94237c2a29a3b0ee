"""Two plans of one round side by side, and a comparison held against an earlier one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models.plan import ComparedPod, ComparedTier, Comparison, Plan, ReliantPod, Tier, WithoutEvictions
from ..models.progress import unwatched
from .api import SolveOptions, solve, solve_both

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ..models.progress import Watch
    from ..models.snapshot import Snapshot
    from .options import ProgressCallback


def compare(
    snapshot: Snapshot,
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
    without_evictions: bool = False,
) -> Comparison:
    """Solve a round with both schedulers and set the plans side by side; `api.solve_round` has the rest.

    Parameters
    ----------
    without_evictions : bool
        Whether the best plan that evicts nobody is beside them. It is searched as the other was, with a time
        limit of its own, where the optimum evicts somebody.
    """
    options = options or SolveOptions()
    found = compared(*solve_both(snapshot, options, progress, watch=watch, waited=waited))
    optimal = found.optimal
    if not without_evictions or optimal.stats.interrupted:
        return found
    if optimal.evictions:
        limits = replace(options.limits or snapshot.limits, evictions=0)
        plan = solve(snapshot, replace(options, limits=limits), progress, watch=watch)
    else:
        plan = optimal
    return found.model_copy(update={"without_evictions": reliant(optimal, plan)})


def reliant(optimal: Plan, plan: Plan) -> WithoutEvictions:
    """Set the best plan that evicts nobody beside the optimum."""
    placed = plan.placed()
    pods = tuple(
        ReliantPod(pod=n.pod, optimal=n.node, without_evictions=placed.get(n.pod))
        for n in optimal.nominations
    )
    return WithoutEvictions(plan=plan, pods=pods)


def compared(optimal: Plan, greedy: Plan) -> Comparison:
    """Set two plans of the same instance side by side."""
    tiers = tuple(
        ComparedTier(
            name=o.name, sense=o.sense, optimal=o.value, bound=o.bound, proven=o.proven, greedy=g.value
        )
        for o, g in zip(optimal.tiers, greedy.tiers, strict=True)
    )
    ours, theirs = optimal.placed(), greedy.placed()
    pods = tuple(
        ComparedPod(pod=pod, greedy=theirs.get(pod), optimal=ours.get(pod))
        for pod in sorted(ours.keys() | theirs.keys())
        if ours.get(pod) != theirs.get(pod)
    )
    first = next((t.name for t in tiers if t.optimal != t.greedy), None)
    return Comparison(optimal=optimal, greedy=greedy, tiers=tiers, first_difference=first, pods=pods)


def regressions(earlier: Comparison, now: Comparison) -> list[str]:
    """List where either scheduler's vector is lexicographically worse than in an earlier comparison."""
    found = []
    for scheduler, before, after in (
        ("optimal", earlier.optimal.tiers, now.optimal.tiers),
        ("greedy", earlier.greedy.tiers, now.greedy.tiers),
    ):
        worse = _first_worse(before, after)
        if worse is not None:
            found.append(f"{scheduler}: {worse}")
    return found


def _first_worse(before: Iterable[Tier], after: Iterable[Tier]) -> str | None:
    """Compare vectors as `first_changed` does."""
    changed = first_changed({tier.name: tier.value for tier in before}, after)
    if changed is None or not is_worse(*changed):
        return None
    tier, was = changed
    return f"{tier.name} was {was} and is {tier.value}"


def first_changed(before: Mapping[str, int], after: Iterable[Tier]) -> tuple[Tier, int] | None:
    """Return the first tier, in today's order, that had another value, and that value; None where none had.

    Vectors are compared by tier name; a tier that one of them lacks counts as 0.
    """
    for tier in after:
        was = before.get(tier.name, 0)
        if tier.value != was:
            return tier, was
    return None


def is_worse(tier: Tier, was: int) -> bool:
    """Whether a tier is worse than it was."""
    return tier.value < was if tier.sense == "max" else tier.value > was
