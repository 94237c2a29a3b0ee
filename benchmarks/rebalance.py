"""Moves in a cluster half in use: what they gain, how far from the bound, and beside one node at a time."""

from time import process_time
from typing import Any

from kubestow.instances.generated import half_used
from kubestow.instances.manifests import snapshot_of
from kubestow.models.rebalance import MoveGoal, Rebalancing
from kubestow.solver.options import SolveOptions
from kubestow.solver.rebalance.api import rebalance
from kubestow.solver.rebalance.round import MoveWishes

from .registry import BenchSpec, Column, register


def measure(nodes: int, goal: MoveGoal, waiting: int, seconds: float) -> dict[str, Any]:
    """Search the moves of one generated cluster."""
    snapshot = snapshot_of(half_used(nodes, seed=1, waiting=waiting))
    wishes = MoveWishes(goal=goal, price="example.com/price" if goal == "cheapest" else "")
    begin = process_time()
    found = rebalance(snapshot, wishes, SolveOptions(time_limit=seconds, workers=2))
    spent = process_time() - begin
    gain, moves = found.optimal.tiers[0], _moves(found.optimal)
    bound = gain.bound if gain.bound is not None else gain.value
    least = next(tier.bound for tier in found.optimal.tiers if tier.name == "moves")
    return {
        "movable": found.movable,
        "value": gain.value,
        "bound": bound,
        "gap": 100 * abs(bound - gain.value) / max(1, abs(gain.value)),
        "rule": found.heuristic.tiers[0].value,
        "moves": moves,
        "least": "" if least is None else f"{least:,}",
        "rule_moves": _moves(found.heuristic),
        "batches": found.optimal.batches,
        "spent": spent,
    }


def _moves(plan: Rebalancing) -> int:
    return len(plan.moves)


REBALANCE = register(
    BenchSpec(
        name="rebalance",
        title="Moves in a cluster half in use",
        about="""
Generated clusters of two sizes of nodes, each between 30 and 70 % in use: pods of 40 ReplicaSets, a third of
them spread over hosts, a third under a budget of a tenth, a DaemonSet's pod and a price on each node.
`free-nodes` empties nodes, `cheapest` counts their prices (in units of 0.001), `admit` lets pods in that
ask for three quarters of a smaller node. *Beside it* is one node at a time, and for `admit` kube-scheduler
without moves. The bound of the moves is that given the gain. Processor time is of all threads, the time limit
is of the clock.""",
        cases=(
            {"nodes": 1000, "goal": "free-nodes", "waiting": 0, "seconds": 60.0},
            {"nodes": 1000, "goal": "cheapest", "waiting": 0, "seconds": 60.0},
            {"nodes": 1000, "goal": "admit", "waiting": 500, "seconds": 60.0},
            {"nodes": 1000, "goal": "admit", "waiting": 700, "seconds": 60.0},
        ),
        quick=({"nodes": 6, "goal": "free-nodes", "waiting": 0, "seconds": 1.0},),
        measure=measure,
        columns=(
            Column("goal", "{goal}"),
            Column("nodes", "{nodes:,}"),
            Column("may move", "{movable:,}"),
            Column("waiting", "{waiting:,}"),
            Column("time limit, s", "{seconds:g}"),
            Column("value", "{value:,}"),
            Column("bound", "{bound:,}"),
            Column("gap, %", "{gap:.2f}"),
            Column("beside it", "{rule:,}"),
            Column("moves", "{moves:,}"),
            Column("at least", "{least}"),
            Column("beside it", "{rule_moves:,}"),
            Column("batches", "{batches:,}"),
            Column("processor, s", "{spent:.1f}"),
        ),
    )
)
