"""Rows of the tables in tests/promises: one round, and the values of its optimum."""

from dataclasses import dataclass

import pytest

from kubestow.framework.index.cluster import Cluster
from kubestow.models.snapshot import Snapshot
from support.builders import pod
from support.oracle.exhaustive import best_plan
from support.proof import solve_and_replay


@dataclass(frozen=True)
class Row:
    """A round with its exact optimum; tiers that are not named are 0."""

    name: str
    snapshot: Snapshot
    tiers: dict[str, int]

    def title(self):
        """Name the row in pytest's output."""
        return self.name


web = pod("web").label(app="web")
low = pod("low").priority(0).req(cpu="1")
high = pod("high").priority(100).req(cpu="1")


def scheduled(priority):
    return f"scheduled[priority={priority}]"


def violations(priority):
    return f"violations[priority={priority}]"


def evicted(priority, victim):
    return f"evicted[priority={priority},victim={victim}]"


def by_solver(snapshot):
    optimal, _ = solve_and_replay(snapshot)
    assert optimal.status == "OPTIMAL"
    assert optimal.stats.admissible
    return {tier.name: tier.value for tier in optimal.tiers if tier.value}


def by_exhaustive_search(snapshot):
    return {name: value for name, (_, value) in best_plan(Cluster(snapshot)).tiers.items() if value}


both_engines = pytest.mark.parametrize("engine", [by_exhaustive_search, by_solver])
