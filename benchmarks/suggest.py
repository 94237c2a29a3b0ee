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

CLASSES, OF_EACH = 10, 5
"""Classes of pods that no plan places, and pods of each, where all that wait are asked about."""


def asked(objects: list[generated.Manifest], subject: str) -> list[generated.Manifest]:
    """Return what is asked about: a pod that only tainted nodes have room for, a gang of such, or classes."""
    [pod] = question(objects, "taint")
    if subject == "pod":
        return [pod]
    if subject == "all pending":
        return [_sized(pod, k, j) for k in range(CLASSES) for j in range(OF_EACH)]
    group = {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "asked", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": MEMBERS}}},
    }
    spec = {**pod["spec"], "schedulingGroup": {"podGroupName": "asked"}}
    members = [{**pod, "metadata": {"name": f"asked-{k}"}, "spec": spec} for k in range(MEMBERS)]
    return [group, *members]


def _sized(pod: generated.Manifest, k: int, j: int) -> generated.Manifest:
    """Return a pod of class k: each asks for one cpu more than the one before."""
    [container] = pod["spec"]["containers"]
    requests = {**container["resources"]["requests"], "cpu": str(24 + k)}
    spec = {**pod["spec"], "containers": [{**container, "resources": {"requests": requests}}]}
    return {**pod, "metadata": {**pod["metadata"], "name": f"asked-{k}-{j}"}, "spec": spec}


def measure(nodes: int, pods: int, subject: str) -> dict[str, Any]:
    """Ask about a pod, a gang or all that the best plan leaves out, in a round of 60 Deployments."""
    objects = generated.deployments(nodes, seed=1, pods_per_node=pods // nodes)
    snapshot = load([*objects, *asked(objects, subject)])
    wanted = SuggestOptions(alternatives=1)
    begin = process_time()
    names = None if subject == "all pending" else ["asked"]
    document = suggest(snapshot, names, wanted, SolveOptions(workers=1, time_limit=600), changed_by)
    seconds = process_time() - begin
    answers = document.answers
    firsts = [answer.suggestions[0] for answer in answers]
    kinds = dict.fromkeys(", ".join(step.kind for step in first.steps) for first in firsts)
    return {
        "seconds": seconds,
        "running": sum(bool(pod.spec.node_name) for pod in snapshot.pods),
        "answers": len(answers),
        "menu": max(answer.menu for answer in answers),
        "first": " or ".join(kinds),
        "proven": "yes" if all(first.cheapest and first.proven for first in firsts) else "no",
        "rounds": sum(answer.rounds for answer in answers),
    }


SUGGEST = register(
    BenchSpec(
        name="suggest",
        title="The least change that would help",
        about="""
`suggest` for one pod, and for a gang of 16, that no plan places, in the round of "Why one pod waits": only
the tainted tenth of the nodes is large enough; and for all that the best plan leaves out, 50 such pods of 10
sizes, with one answer for each class. One suggestion is wanted. The time begins when the input is
read, and the best plan of the round as it is, of 3,000 pods of 60 Deployments, is part of it. *Rounds* are
those that were solved to rule sets of steps out. Seconds are CPU time with one worker, the solver's own
loading included.""",
        cases=(
            {"nodes": 1000, "pods": 3000, "subject": "pod"},
            {"nodes": 1000, "pods": 3000, "subject": "gang"},
            {"nodes": 1000, "pods": 3000, "subject": "all pending"},
        ),
        quick=(
            {"nodes": 20, "pods": 60, "subject": "gang"},
            {"nodes": 20, "pods": 60, "subject": "all pending"},
        ),
        measure=measure,
        columns=(
            Column("nodes", "{nodes:,}"),
            Column("running pods", "{running:,}"),
            Column("waiting pods", "{pods:,}"),
            Column("asked about", "{subject}"),
            Column("answers", "{answers}"),
            Column("steps", "{menu}"),
            Column("cheapest", "{first}"),
            Column("proven", "{proven}"),
            Column("rounds", "{rounds}"),
            Column("CPU s", "{seconds:.2f}"),
            Column("peak, MiB", "{peak_mb:,.0f}"),
        ),
    )
)
