"""Checks of a document of `compare`: its plans, and the tables that set them side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from .answers import Finding
from .plans import check_plan

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...models.plan import Comparison, WithoutEvictions
    from ...models.snapshot import Snapshot


def check_comparison(snapshot: Snapshot, both: Comparison) -> list[Finding]:
    """Check both plans, the table of tiers, the first difference and the table of pods."""
    findings = [*check_plan(snapshot, both.optimal), *check_plan(snapshot, both.greedy), *_tables(both)]
    if both.without_evictions is not None:
        findings += _without_evictions(snapshot, both, both.without_evictions)
    return findings


def _tables(both: Comparison) -> Iterator[Finding]:
    schedulers = (both.optimal.scheduler, both.greedy.scheduler)
    yield _same("the plans are of optimal and of greedy", schedulers, ("optimal", "greedy"))
    greedy = {tier.name: tier.value for tier in both.greedy.tiers}
    tiers = [(t.name, t.sense, t.value, t.bound, t.proven, greedy.get(t.name)) for t in both.optimal.tiers]
    stated = [(t.name, t.sense, t.optimal, t.bound, t.proven, t.greedy) for t in both.tiers]
    yield _same("the table of tiers has the values of the plans", stated, tiers)
    first = next((name for name, _, ours, _, _, theirs in tiers if ours != theirs), None)
    yield _same("firstDifference is the first tier in which the plans differ", both.first_difference, first)
    ours, theirs = both.optimal.placed(), both.greedy.placed()
    differing = {(pod, theirs.get(pod), ours.get(pod)) for pod in ours.keys() | theirs.keys()}
    pods = sorted((pod, there, here) for pod, there, here in differing if here != there)
    listed = sorted((item.pod, item.greedy, item.optimal) for item in both.pods)
    yield _same("the table of pods has those that the plans place differently", listed, pods)


def _same(claim: str, stated: object, found: object) -> Finding:
    return Finding(claim, stated == found, "compared with the plans")


def _without_evictions(snapshot: Snapshot, both: Comparison, without: WithoutEvictions) -> Iterator[Finding]:
    if both.optimal.evictions:
        snapshot = replace(snapshot, limits=replace(snapshot.limits, evictions=0))
    yield from check_plan(snapshot, without.plan)
    yield Finding("the plan without evictions evicts no pod", not without.plan.evictions, "its evictions")
    placed = without.plan.placed()
    reliant = [(item.pod, item.node, placed.get(item.pod)) for item in both.optimal.nominations]
    stated = [(item.pod, item.optimal, item.without_evictions) for item in without.pods]
    yield _same("the pods that rely on evictions are those of the plans", stated, reliant)
