"""Changes as lines for a shell: kubectl commands that make them in a cluster.

What a pod asks for is fixed once it is made. Where the input has the workload that made a pod, its template
is patched, and the workload makes its pods anew; a pod without one is replaced by itself, changed. Containers
are never patched as a list, since what they have beyond resources is not read: `kubectl set resources`
changes their requests.

Sources: kubernetes pkg/apis/core/validation (ValidatePodUpdate), kubectl patch, set resources, replace.
"""

from __future__ import annotations

import json
from shlex import quote
from typing import TYPE_CHECKING, Any, Final

from ...models.changes import LIKE, AddNodes, CordonNode, DeletePod, Patch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ...models.changes import Change, ChangeSet
    from ...models.meta import KubeObject
    from ...models.pod import Pod
    from ...models.policy import PodDisruptionBudget
    from ...models.snapshot import Snapshot

_CONTAINERS: Final = ("containers", "initContainers")


def kubectl_lines(snapshot: Snapshot, change_set: ChangeSet) -> tuple[str, ...]:
    """Return the commands, each once; a comment where there is none, for nodes that are to come."""
    lines: dict[str, None] = {}
    for change in change_set.changes:
        lines.update(dict.fromkeys(_lines(snapshot, change)))
    return tuple(lines)


def _lines(snapshot: Snapshot, change: Change) -> Iterator[str]:
    match change:
        case CordonNode(node, on):
            yield f"kubectl {'cordon' if on else 'uncordon'} {quote(node)}"
        case DeletePod(target):
            yield f"kubectl delete pod {_named(target)} --grace-period=0 --force"
        case AddNodes(source, count):
            plural = "" if count == 1 else "s"
            kind = "like " + source.removeprefix(LIKE) if source.startswith(LIKE) else f"of group {source}"
            yield f"# add {count} node{plural} {kind}"
        case Patch(target, merge):
            yield from _patched(snapshot, target, merge)


def _named(target: str) -> str:
    """Write the name of an object `KIND/NAMESPACE/NAME` with its namespace as an option."""
    _, namespace, name = target.split("/", 2)
    return f"{quote(name)} -n {quote(namespace)}"


def _patched(snapshot: Snapshot, target: str, merge: Mapping[str, Any]) -> Iterator[str]:
    kind, _, key = target.partition("/")
    if kind == "Pod":
        pod = next(item for item in snapshot.pods if item.key == key)
        yield from _pod(snapshot, pod, merge["spec"])
    elif kind == "PodDisruptionBudget":
        budget = next(item for item in snapshot.pod_disruption_budgets if item.key == key)
        allowed = merge["status"]["disruptionsAllowed"]
        yield f"kubectl patch poddisruptionbudget {_named(target)} {_merge(_limit(budget, allowed))}"
    elif kind == "ResourceClaim":
        yield f"kubectl patch resourceclaim {_named(target)} --subresource=status {_merge(merge)}"
    else:
        yield f"kubectl patch {kind.lower()} {_named(target)} {_merge(merge)}"


def _merge(patch: Mapping[str, Any]) -> str:
    return f"--type=merge -p {quote(json.dumps(_tidy(patch), separators=(',', ':')))}"


def _tidy(value: Any) -> Any:
    """Leave out what is empty in the items of lists; an empty selector selects everything, and stays."""
    if isinstance(value, dict):
        return {key: _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value


def _without_empty(item: Any) -> Any:
    if not isinstance(item, dict):
        return item
    return {
        key: _without_empty(inner) if isinstance(inner, dict) else _tidy(inner)
        for key, inner in item.items()
        if inner not in ("", [], {}) or (key.endswith("Selector") and inner == {})
    }


def _limit(budget: PodDisruptionBudget, allowed: int) -> dict[str, Any]:
    """Return the spec with which a budget allows so many disruptions, as its status counts pods."""
    status = budget.status
    healthy = max(status.current_healthy - allowed, 0)
    if budget.spec.min_available is not None:
        return {"spec": {"minAvailable": healthy}}
    return {"spec": {"maxUnavailable": max(status.expected_pods - healthy, 0)}}


# -- pods --


def _pod(snapshot: Snapshot, pod: Pod, spec: Mapping[str, Any]) -> Iterator[str]:
    changed = {name: value for name, value in spec.items() if name not in (*_CONTAINERS, "resources")}
    if "priority" in changed:
        value = changed.pop("priority")
        if not changed.get("priorityClassName"):
            changed["priorityClassName"] = f"priority-{value}"
            yield f"kubectl create priorityclass {changed['priorityClassName']} --value={value}"
    amounts = list(_amounts(pod, spec))
    owner = _owner(snapshot, pod)
    if owner is not None:
        where = f"{quote(owner.name)} -n {quote(owner.namespace)}"
        if changed:
            patch = {"spec": {"template": {"spec": changed}}}
            yield f"kubectl patch {owner.kind.lower()} {where} {_merge(patch)}"
        for container, asked in amounts:
            what = f"{owner.kind.lower()} {where} -c {quote(container)}"
            yield f"kubectl set resources {what} --requests={asked}"
    elif changed.keys() == {"tolerations"} and not amounts:
        yield f"kubectl patch pod {_named(f'pod/{pod.key}')} {_merge({'spec': changed})}"
    else:
        steps = [f"kubectl get pod {_named(f'pod/{pod.key}')} -o yaml"]
        if changed:
            steps.append(f"kubectl patch --local -f - {_merge({'spec': changed})} -o yaml")
        steps += [
            f"kubectl set resources --local -f - -c {quote(container)} --requests={asked} -o yaml"
            for container, asked in amounts
        ]
        yield " | ".join((*steps, "kubectl replace --force -f -"))


def _amounts(pod: Pod, spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the requests of containers that change, as `kubectl set resources` takes them."""
    before = {item.name: item for item in (*pod.spec.containers, *pod.spec.init_containers)}
    for field in _CONTAINERS:
        for item in spec.get(field, ()):
            asked = item.get("resources", {}).get("requests", {})
            old = before[item["name"]].model_dump(mode="json", by_alias=True)["resources"]["requests"]
            new = {name: amount for name, amount in asked.items() if old.get(name) != amount}
            if new:
                yield item["name"], ",".join(f"{name}={amount}" for name, amount in sorted(new.items()))


def _owner(snapshot: Snapshot, pod: Pod) -> KubeObject | None:
    """Return the workload of the input whose template pods are made from: the Deployment of a ReplicaSet."""
    found: KubeObject | None = None
    item: KubeObject = pod
    while (controller := item.metadata.controller) is not None:
        key = f"{item.namespace}/{controller.name}"
        known = {
            "ReplicaSet": snapshot.replica_sets,
            "Deployment": snapshot.deployments,
            "StatefulSet": snapshot.stateful_sets,
        }.get(controller.kind, ())
        parent: KubeObject | None = next((each for each in known if each.key == key), None)
        if parent is None:
            break
        found = item = parent
    return found
