"""What `--verbose` tells."""

import pytest
from support.builders import budget, cluster, node, pod

from kubestow.models.plan import Plan
from kubestow.reports import narration
from kubestow.reports.narration import Narrator, what_was_read, what_was_solved
from kubestow.solver.options import Progress


def test_what_was_read():
    objects = [node("a"), node("b"), pod("p"), pod("q").on("a"), budget("k", app="a", allowed=0)]
    assert what_was_read(cluster(*objects)) == (
        "test: read 2 Node, 2 Pod, 1 PodDisruptionBudget; 1 pod without a node"
    )


def test_an_input_without_objects():
    assert what_was_read(cluster()) == "test: read nothing; 0 pods without a node"


@pytest.mark.parametrize("verified, words", [(True, "1 step replayed"), (False, "not replayed")])
def test_what_was_solved(verified, words):
    tier = {"name": "t", "sense": "max", "value": 1, "bound": 2, "proven": False}
    plan = Plan.model_validate(
        {
            "instance": "dump.yaml",
            "scheduler": "optimal",
            "status": "FEASIBLE",
            "tiers": [tier, {**tier, "bound": 1, "proven": True}],
            "steps": [{"bind": "a/b", "node": "n"}],
            "stats": {"variables": 10, "constraints": 1, "verified": verified},
        }
    )
    assert what_was_solved(plan) == (
        f"dump.yaml: optimal: model of 10 variables, 1 constraint; 1 of 2 tiers proven; {words}"
    )


def test_a_search_is_told_tier_by_tier_and_within_one_now_and_then(monkeypatch):
    clock = [100.0]
    monkeypatch.setattr(narration.time, "monotonic", lambda: clock[0])
    lines = []
    narrator = Narrator(lines.append)

    def at(seconds, tier, incumbent, bound=None):
        clock[0] = 100 + seconds
        narrator(Progress(tier=tier, sense="max", incumbent=incumbent, bound=bound, seconds=seconds))

    at(0, "a", 1)
    at(0.5, "a", 2)  # too soon after the line before
    at(1.5, "a", 3, 5)
    at(9, "a", 3, 5)  # nothing new
    at(9.1, "b", 0)
    assert lines == ["0 s  a: best 1", "2 s  a: best 3, bound 5, gap 2", "9 s  b: best 0"]
