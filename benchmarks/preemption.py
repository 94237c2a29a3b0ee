"""The speed of preemption: dry runs on all nodes at once beside the dry run of each."""

from time import process_time
from typing import Any

import numpy as np

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.candidate_cost import Candidate, cost_of
from kubestow.framework.cycle.cycle import apply, schedule_one
from kubestow.framework.cycle.preemption import dry_run
from kubestow.framework.cycle.runtime import Framework, framework_for
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.status import Code
from kubestow.instances import generated

from .baseline import load
from .registry import BenchSpec, Column, register


def configuration(percentage: int) -> generated.Manifest:
    """Return a configuration that wants so many of the nodes as candidates, and at least 100."""
    args = {"minCandidateNodesPercentage": percentage, "minCandidateNodesAbsolute": 100}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"pluginConfig": [{"name": "DefaultPreemption", "args": args}]}],
    }


def plain(framework: Framework, state: State, i: int, ledger: Ledger, wanted: int) -> Candidate | None:
    """Choose among the dry runs of one node after another, until there are enough candidates."""
    result = framework.filter_all(state, i, nominated=True)
    found: list[Candidate] = []
    for n in np.flatnonzero(result.codes == Code.UNSCHEDULABLE).tolist():
        tried = dry_run(framework, state, i, n, result, ledger)
        if isinstance(tried, Candidate):
            found.append(tried)
            if len(found) >= wanted and any(not one.violations for one in found):
                break
    return min(found, key=lambda one: cost_of(framework.cluster, one), default=None)


def measure(nodes: int, preemptors: int, percentage: int, every: int) -> dict[str, Any]:
    """Time one pass, and for each `every`-th pod the plain algorithm on the same state."""
    objects = generated.contested(nodes, seed=1, preemptors=preemptors)
    cluster = build_cluster(load([configuration(percentage), *objects]))
    wanted = max(nodes * percentage // 100, 100)
    state, ledger = State.initial(cluster, nominations=True), Ledger(cluster)
    ours = theirs = 0.0
    compared = equal = victims = nominated = 0
    for turn, i in enumerate(cluster.pending):
        framework = framework_for(cluster, i)
        begin = process_time()
        cycle = schedule_one(framework, state, i, ledger)
        ours += process_time() - begin
        if turn % every == 0:
            begin = process_time()
            candidate = plain(framework, state, i, ledger, wanted)
            theirs += process_time() - begin
            compared += 1
            equal += candidate == (cycle.preemption.best if cycle.preemption else None)
        nominated += cycle.outcome == "nominated"
        victims += len(cycle.victims)
        apply(state, cycle, ledger)
    attempt, alone = ours / len(cluster.pending), theirs / compared
    return {
        "running": len(cluster.bound),
        "nominated": nominated,
        "victims": victims,
        "total": ours,
        "attempt": attempt * 1000,
        "alone": alone * 1000,
        "times": alone / attempt,
        "equal": f"{equal} of {compared}",
    }


PREEMPTION = register(
    BenchSpec(
        name="preemption",
        title="Preemption at scale",
        about="""
A full cluster: 30 running pods a node of five low priorities and different ages, of 40 apps, each under a
disruption budget of a tenth. Then pods of higher priorities, half of them spread over zones, which all need
room. *Wanted* is the share of the nodes that must be candidates before the search ends
(`minCandidateNodesPercentage`, 10 by default, and at least 100 nodes). *One by one* is the plain algorithm:
the dry run of one node after another, timed on the same states in the same run for every tenth attempt; the
last column says how often both chose the same node and the same victims.""",
        cases=(
            {"nodes": 100, "preemptors": 100, "percentage": 100, "every": 10},
            {"nodes": 1000, "preemptors": 100, "percentage": 10, "every": 10},
            {"nodes": 1000, "preemptors": 100, "percentage": 100, "every": 10},
        ),
        quick=({"nodes": 10, "preemptors": 10, "percentage": 100, "every": 2},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("running pods", "{running:,}"),
            Column("preemptors", "{preemptors:,}"),
            Column("wanted", "{percentage} %"),
            Column("victims", "{victims:,}"),
            Column("all attempts, s", "{total:.2f}"),
            Column("an attempt, ms", "{attempt:.1f}"),
            Column("one by one, ms", "{alone:.1f}"),
            Column("ratio", "{times:.0f}"),
            Column("equal", "{equal}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
