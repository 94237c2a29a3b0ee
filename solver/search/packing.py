"""Packing as a phase: pods stand where the sums have them, at the bound of a tier or near to it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ...models import tiers
from ..packing.node_count import Verdict
from .refilling import offer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .tier_run import TierRun


def pack_once(run: TierRun) -> None:
    """Try once, with little effort, to pack a tier of placed pods to its bound and those below to theirs."""
    names = _names(run)
    if names and run.state.filling.worthwhile:
        until = run.share(run.params.packing_share)
        _try(run, run.state.bound(run.name), names[1:], run.params.packing.efforts[0], until)


def pack(run: TierRun) -> None:
    """Look for a plan that attains the bound of a tier of placed pods, or is better than the best one."""
    state, params = run.state, run.params
    names = _names(run)
    if not names or not state.filling.worthwhile:
        return
    until = run.share(params.packing_share)
    for effort in params.packing.efforts:
        for target in _targets(state.value(run.name), state.bound(run.name)):
            for below in (names[1:], []) if names[1:] else ([],):
                if state.value(run.name) >= target:
                    break
                if time.monotonic() >= until or not run.open():
                    return
                # little effort is enough once
                _try(run, target, below, effort, until, again=effort > params.packing.efforts[0])


def _try(
    run: TierRun, target: int, below: Sequence[str], effort: int, until: float, *, again: bool = False
) -> None:
    """Offer the plan that packing finds, if any; what was tried already is tried anew only if wanted."""
    held, filling = [*run.state.held, (run.name, target)], run.state.filling
    if filling.tried(held, below, effort) and not again:
        return
    found = filling.plan(held, below, effort, until)
    if found is not None:
        offer(run, found)


def count_nodes(run: TierRun) -> None:
    """Decide over all patterns of a node whether a tier of placed pods attains its bound; lower it if not."""
    state, name, params = run.state, run.name, run.params
    if not _names(run) or not state.filling.countable:
        return
    until, told = run.share(params.node_count_share), True
    if not state.filling.node_count.lists(name, until - time.monotonic()):
        return
    for target in range(state.bound(name), state.value(name), -1):
        if time.monotonic() >= until or not run.open() or state.value(name) >= target:
            return
        answer = state.filling.node_count.decide(state.held, name, target, until)
        if answer.verdict is Verdict.ATTAINED:
            offer(run, state.filling.restored(answer.counts))
            return
        told &= answer.verdict is Verdict.REFUTED
        if told:
            state.tell(name, target - 1)


def _names(run: TierRun) -> Sequence[str]:
    """Return a tier of placed pods and those below, down to the last such tier; none for another one."""
    state = run.state
    every = [tier.name for tier in state.incumbent.valuation.tiers]
    placing = {tiers.scheduled(level) for level in state.problem.levels}.intersection(every)
    if run.name not in placing:
        return ()
    last = max(map(every.index, placing))
    return every[every.index(run.name) : last + 1]


def _targets(value: int, bound: int) -> Iterator[int]:
    """Yield the bound and what is less and less near to it, as long as it is better than what is attained."""
    step = 0
    while bound - step > value:
        yield bound - step
        step = max(1, 2 * step)
