"""How often rounds that follow one another generate columns, and what that takes of their time."""

import random
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

from kubestow.instances.generated import deployments, packing
from kubestow.instances.manifests import snapshot_of
from kubestow.models.pod import Pod
from kubestow.models.snapshot import Snapshot
from kubestow.simulation.engine import Simulation
from kubestow.solver.api import load_solver, solve_round
from kubestow.solver.options import SolveOptions
from kubestow.solver.patterns.column_generation import ColumnGeneration
from kubestow.solver.plans.outcome import SolvedRound
from kubestow.solver.search.tier_bounds import Bounding
from kubestow.solver.simulate import OptimalScheduler

from .registry import BenchSpec, Column, register
from .simulation import scenario

SECONDS = 5.0


@contextmanager
def timed(owner: type, name: str, tally: Counter[str], seconds: dict[str, float]) -> Iterator[None]:
    """Count the calls of a method and the processor time that they take, meanwhile."""
    original = getattr(owner, name)

    def call(*args: Any) -> Any:
        started = time.process_time()
        try:
            return original(*args)
        finally:
            tally[name] += 1
            seconds[name] = seconds.get(name, 0.0) + time.process_time() - started

    with mock.patch.object(owner, name, call):
        yield


def following(family: str, nodes: int, pods: int, turnover: int) -> Iterator[None]:
    """Solve rounds each after the one before it, and yield when the first of them is over, then each."""
    if family == "packing":
        snapshot = snapshot_of(packing(nodes, pods // nodes, 2, 1.0, seed=1))
    else:
        snapshot = snapshot_of(deployments(nodes, seed=1, pods_per_node=pods // nodes, demand=1.2))
    templates = [pod for pod in snapshot.pods if not pod.spec.node_name]
    rng, before = random.Random(1), None
    for number in range(4):
        before = solve_round(snapshot, SolveOptions(time_limit=SECONDS, workers=1), after=before)
        yield
        snapshot = later(snapshot, before, turnover, templates, rng, f"round{number}")


def later(
    snapshot: Snapshot,
    solved: SolvedRound,
    turnover: int,
    templates: list[Pod],
    rng: random.Random,
    name: str,
) -> Snapshot:
    """Carry a plan out; so many per cent of the pods that run then end, and as many others come."""
    plan = solved.plan
    evicted, placed = {eviction.pod for eviction in plan.evictions}, plan.placed()
    pods = [on(pod, placed.get(pod.key)) for pod in snapshot.pods if pod.key not in evicted]
    running = [pod.key for pod in pods if pod.spec.node_name]
    ended = set(rng.sample(running, len(running) * turnover // 100))
    come = [renamed(rng.choice(templates), f"{name}-{k}") for k in range(len(ended))]
    return replace(snapshot, pods=(*(pod for pod in pods if pod.key not in ended), *come))


def on(pod: Pod, node: str | None) -> Pod:
    """Return a pod bound to a node, as it is where there is none."""
    if node is None:
        return pod
    return pod.model_copy(update={"spec": pod.spec.model_copy(update={"node_name": node})})


def renamed(pod: Pod, name: str) -> Pod:
    """Return a pod of the same template."""
    return pod.model_copy(update={"metadata": pod.metadata.model_copy(update={"name": name})})


def measure(family: str, nodes: int, pods: int, turnover: int) -> dict[str, Any]:
    """Run a simulated hour, or a few rounds of a family, and say what column generation took of it."""
    load_solver()
    tally, seconds = Counter[str](), dict[str, float]()
    with (
        timed(Bounding, "by_columns", tally, seconds),
        timed(ColumnGeneration, "_price", tally, seconds),
    ):
        started = time.process_time()
        if family == "arrivals":
            scheduler = partial(OptimalScheduler, warm=True)
            rounds = Simulation(scenario(nodes, pods, 0), scheduler).run().rounds
        else:
            walk = following(family, nodes, pods, turnover)
            next(walk)  # it follows none
            tally.clear()
            seconds.clear()
            started = time.process_time()
            rounds = sum(1 for _ in walk)
        used = time.process_time() - started
    return {
        "rounds": rounds,
        "tiers": tally["by_columns"],
        "pricings": tally["_price"],
        "cpu": used,
        "share": 100 * seconds.get("by_columns", 0.0) / used,
    }


COLUMNS = register(
    BenchSpec(
        name="columns",
        title="Column generation in rounds that follow one another",
        about="""
Each round begins with what the one before it leaves ([model.md](model.md), "Warm rounds"). *arrivals* is the
hour of "Optimal rounds one after another". In the others each plan is carried out, a share of the pods that
run then ends (*turnover*), and as many of the waiting templates come; the first round is left out, and a
round has 5 s. *Tiers* is how often column generation began, *pricings* how many rounds of pricing it had;
*share* is what it took of the processor time, one worker.""",
        cases=(
            {"family": "arrivals", "nodes": 200, "pods": 6000, "turnover": 0},
            {"family": "packing", "nodes": 32, "pods": 256, "turnover": 5},
            {"family": "packing", "nodes": 32, "pods": 256, "turnover": 20},
            {"family": "deployments", "nodes": 32, "pods": 192, "turnover": 20},
        ),
        quick=({"family": "packing", "nodes": 3, "pods": 12, "turnover": 20},),
        measure=measure,
        columns=(
            Column("family", "{family}"),
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("turnover, %", "{turnover}"),
            Column("rounds", "{rounds:,}"),
            Column("tiers", "{tiers}"),
            Column("pricings", "{pricings}"),
            Column("CPU s", "{cpu:.1f}"),
            Column("share, %", "{share:.1f}"),
        ),
    )
)
