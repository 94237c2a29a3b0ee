"""The speed of `suggest` for one pod or one group of a large round."""

from time import process_time
from typing import Any

from kubestow.instances import generated
from kubestow.instances.what_if.apply import changed_by
from kubestow.solver.options import SolveOptions
from kubestow.solver.suggest.question import suggest
from kubestow.solver.suggest.suggest_options import SuggestOptions

from .baseline import load
from .registry import BenchSpec, Column, register
from .why import question

MEMBERS = 16
"""Pods of the gang."""


def asked(objects: list[generated.Manifest], subject: str) -> list[generated.Manifest]:
    """Return what is asked about: a pod that only tainted nodes have room for, or a gang of such pods."""
    [pod] = question(objects, "taint")
    if subject == "pod":
        return [pod]
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "asked", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}},
    }
    spec = {**pod["spec"], "schedulingGroup": {"podGroupName": "asked"}}
    members = [{**pod, "metadata": {"name": f"asked-{k}"}, "spec": spec} for k in range(MEMBERS)]
    return [group, *members]


def measure(nodes: int, pods: int, subject: str) -> dict[str, Any]:
    """Ask about one pod or gang beside a round of 60 Deployments."""
    objects = generated.deployments(nodes, seed=1, pods_per_node=pods // nodes)
    snapshot = load([*objects, *asked(objects, subject)])
    wanted = SuggestOptions(alternatives=1)
    begin = process_time()
    document = suggest(snapshot, ["asked"], wanted, SolveOptions(workers=1, time_limit=600), changed_by)
    seconds = process_time() - begin
    [answer] = document.answers
    first = answer.suggestions[0]
    return {
        "seconds": seconds,
        "running": sum(bool(pod.spec.node_name) for pod in snapshot.pods),
        "menu": answer.menu,
        "first": ", ".join(step.kind for step in first.steps),
        "proven": "yes" if first.cheapest and first.proven else "no",
        "rounds": answer.rounds,
    }


SUGGEST = register(
    BenchSpec(
        name="suggest",
        title="The least change that would help",
        about="""
`suggest` for one pod, and for a gang of 16, that no plan places, in the round of "Why one pod waits": only
the tainted tenth of the nodes is large enough. One suggestion is wanted. The time begins when the input is
read, and the best plan of the round as it is, of 3,000 pods of 60 Deployments, is part of it. *Rounds* are
those that were solved to rule sets of steps out. Seconds are CPU time with one worker, the solver's own
loading included.""",
        cases=(
            {"nodes": 1000, "pods": 3000, "subject": "pod"},
            {"nodes": 1000, "pods": 3000, "subject": "gang"},
        ),
        quick=({"nodes": 20, "pods": 60, "subject": "gang"},),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("running pods", "{running:,}"),
            Column("waiting pods", "{pods:,}"),
            Column("asked about", "{subject}"),
            Column("steps", "{menu}"),
            Column("cheapest", "{first}"),
            Column("proven", "{proven}"),
            Column("rounds", "{rounds}"),
            Column("CPU s", "{seconds:.2f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
