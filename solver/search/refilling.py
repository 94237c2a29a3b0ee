"""Refill search as a phase: blueprints with less and less slack, each plan checked and put in order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...framework.rules.belonging import victim_priorities
from ...models import tiers
from ..model.round_model import Completion
from ..ordering.decoding import counted
from ..refill.blueprint import blueprint

if TYPE_CHECKING:
    from ..packing.search import Packed
    from ..refill.blueprint import Blueprint
    from ..refill.search import Refilled
    from .tier_run import TierRun


def refill(run: TierRun) -> None:
    """Improve what leaves for pods that are all placed, where nodes and pods are many."""
    state, params = run.state, run.params.refill
    if not _concerns(run) or not state.refilling.worthwhile:
        return
    until, slack = run.share(run.params.refill_share), params.first_slack
    for attempt in range(params.attempts):
        if not run.open() or time.monotonic() >= until:
            break
        plan = _draw(run, slack)
        if plan is None or not _promises(run, plan):
            slack = int(slack * params.slack_shrinkage)
            continue
        end = time.monotonic() + params.attempt_share * (until - time.monotonic())
        found = state.refilling.carry_out(plan, params.attempts * attempt, end)
        if found is not None:
            offer(run, found)
        placed = found is not None and not found.left
        slack = int(slack * (params.slack_shrinkage if placed else params.slack_growth))


def _concerns(run: TierRun) -> bool:
    """Whether the tier counts victims, and all tiers of placed pods are above it."""
    levels = victim_priorities(run.state.problem.cluster)
    last = min(levels)
    return run.name == tiers.violations(last) or run.name in (tiers.evicted(last, q) for q in levels[last])


def _draw(run: TierRun, slack: int) -> Blueprint | None:
    state = run.state
    held = {name for name, _ in state.held}
    names = [tier.name for tier in state.incumbent.valuation.tiers if tier.name not in held]
    standing, _ = counted(state.problem, state.incumbent.best)
    return blueprint(
        state.problem,
        state.refilling.sides,
        standing,
        state.held,
        names,
        slack,
        state.model.new_solver,
        run.params.refill,
    )


def _promises(run: TierRun, plan: Blueprint) -> bool:
    """Whether a blueprint is better than the best plan in the first tier where they differ."""
    now = [run.state.value(name) for name in plan.values]
    return list(plan.values.values()) < now


def offer(run: TierRun, found: Refilled | Packed) -> None:
    """Complete a plan to all variables, and put it in order, if it breaks no row."""
    state, goals = run.state, [name for name in run.group if name in run.state.model.goals]
    completion = state.model.complete(found.counts, found.leaving, goals, run.until - time.monotonic())
    if completion is Completion.COMPLETE and state.model.values is not None:
        state.decode(state.model.solution(state.model.values), run.names)
        state.report_known(run.name)
