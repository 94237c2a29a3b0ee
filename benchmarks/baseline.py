"""The speed of the greedy baseline: one pass of cycles over all pending pods."""

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.cycle import apply, schedule_one
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.index.cluster import Cluster
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.status import Status
from kubestow.instances import generated
from kubestow.instances.manifests import load_snapshot
from kubestow.models.snapshot import Snapshot

from .registry import BenchSpec, Column, register
from .runner import resident_mb

EVERY = 20
"""Every so many pods a full pass over filters and scorers is timed, on the state of that moment."""


def load(objects: Sequence[generated.Manifest]) -> Snapshot:
    """Write objects to a file, as kubectl prints them, and read it."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cluster.json"
        file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
        return load_snapshot([file])


def one_pass(cluster: Cluster) -> float:
    """Return how many seconds the cycles take, each pod tried once."""
    state, ledger = State.initial(cluster, nominations=True), Ledger(cluster)
    begin = process_time()
    for i in cluster.pending:
        apply(state, schedule_one(framework_for(cluster, i), state, i, ledger), ledger)
    return process_time() - begin


def full_passes(cluster: Cluster) -> float:
    """Return how many seconds one pod takes where every filter and scorer looks at every node again."""
    state, ledger = State.initial(cluster, nominations=True), Ledger(cluster)
    seconds, timed = 0.0, 0
    for turn, i in enumerate(cluster.pending):
        framework = framework_for(cluster, i)
        if turn % EVERY == 0:
            begin = process_time()
            nodes = framework.filter_all(state, i, nominated=True).feasible
            scores = framework.score(state, i, nodes)
            assert not isinstance(scores, Status)
            totals = sum(scores.values())
            best = nodes[totals == totals.max()]  # type: ignore[union-attr]
            chosen = best[cluster.name_ranks[best].argmin()]
            seconds, timed = seconds + process_time() - begin, timed + 1
            cycle = schedule_one(framework, state, i, ledger)
            assert chosen == cycle.node
        else:
            cycle = schedule_one(framework, state, i, ledger)
        apply(state, cycle, ledger)
    return seconds / timed


def best_of(times: int, run: Callable[[], float]) -> float:
    return min(run() for _ in range(times))


def measure_rollout(nodes: int) -> dict[str, Any]:
    before = resident_mb()
    begin = process_time()
    snapshot = load(generated.rollout(nodes, seed=1))
    loaded = process_time()
    cluster = Cluster(snapshot)
    indexed = process_time()
    pods = len(cluster.pending)
    held = resident_mb()
    seconds = best_of(2, lambda: one_pass(cluster))
    grown = resident_mb()
    return {
        "pods": pods,
        "load": loaded - begin,
        "index": indexed - loaded,
        "rate": pods / seconds,
        "full": 1 / full_passes(cluster),
        "held_kb": (held - before) * 1024 / (pods + nodes),
        "pass_kb": (grown - held) * 1024 / (pods + nodes),
    }


ROLLOUT = register(
    BenchSpec(
        name="baseline",
        title="The greedy baseline as clusters grow",
        about="""
50 Deployments roll out together into an empty cluster, four pods a node, each Deployment spread over three
zones (`DoNotSchedule`, maxSkew 1) with requests of its own; their pods come in turns of 20. Every node is
scored in every cycle. Timed are the cycles alone, the better of two passes; reading the manifests and
numbering them are columns of their own. *Full pass* is the rate of a pod for which every filter and scorer
looks at every node again, timed in the same run for every 20th pod, with the same outcome. Memory is told for
each object (pod or node): what the cluster takes once it is read, what the passes add, and the peak of the
process.""",
        cases=tuple({"nodes": nodes} for nodes in (500, 1000, 2000, 5000)),
        quick=({"nodes": 20},),
        measure=measure_rollout,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("pods", "{pods:,}"),
            Column("pods/s", "{rate:,.0f}"),
            Column("full pass, pods/s", "{full:,.0f}"),
            Column("read, s", "{load:.1f}"),
            Column("index, s", "{index:.1f}"),
            Column("KiB an object", "{held_kb:.1f}"),
            Column("added by the passes", "{pass_kb:.1f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)


def measure_one_app(nodes: int, pods: int, scored: str, sampled: str) -> dict[str, Any]:
    cluster = Cluster(load(generated.one_app(nodes, pods)))
    rate = pods / best_of(3, lambda: one_pass(cluster))
    real = float(scored.replace(",", ""))
    return {"rate": rate, "times": rate / real}


ONE_APP = register(
    BenchSpec(
        name="one-app",
        title="Beside kube-scheduler's own algorithm",
        about="""
2,000 pods of one Deployment spread over three zones (`DoNotSchedule`, maxSkew 1, 500m cpu and 1Gi each) into
an empty cluster. The figures of kube-scheduler are recorded, not measured in this run: v1.34.1's
`pkg/scheduler` in process on a machine of 2 cores, with parallelism 16 and no API calls, only the loop of
cycles timed, once with every node scored (which is what the baseline does) and once with its default sampling
of nodes; another run under other load differed by up to 30 %. Ours is one thread, by its CPU time, the best
of three passes.""",
        cases=(
            {"nodes": 100, "pods": 2000, "scored": "1,207", "sampled": "990"},
            {"nodes": 1000, "pods": 2000, "scored": "169", "sampled": "232"},
            {"nodes": 5000, "pods": 2000, "scored": "40", "sampled": "125"},
        ),
        quick=({"nodes": 10, "pods": 50, "scored": "1", "sampled": "1"},),
        measure=measure_one_app,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("kubestow, pods/s", "{rate:,.0f}"),
            Column("kube-scheduler, every node scored (recorded)", "{scored}"),
            Column("ratio", "{times:,.0f}"),
            Column("kube-scheduler, sampling (recorded)", "{sampled}"),
        ),
    )
)
