"""A counting proof added up once more, from the objects of the input alone.

This is a second writing of the few rules that the sums rest on: nothing of the index, the filters or the code
that made the proof is used, only the objects as they were read and the amounts of pods.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...models.quantity import format_quantity
from ...models.requests import in_units, pod_requests, running_pod_requests
from ...models.selectors import requirement
from .proved import Proved, tolerates
from .recount_pods import of_company, of_distance, of_spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...models.node import Node
    from ...models.pod import Pod
    from ...models.policy import PodDisruptionBudget
    from ...models.snapshot import Snapshot

UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


def faults_of_counting(
    snapshot: Snapshot, key: str, core: Sequence[Mapping[str, Any]], proof: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what does not hold in the proof that one pod is kept from every node.

    Parameters
    ----------
    key : str
        The pod.
    core : sequence of mapping
        The reasons, as `explain --why -o json` writes them.
    proof : mapping
        `staying` and `nodes`.
    """
    proved = Proved(snapshot, key, core, proof)
    yield from _faults_of_staying(proved)
    rows = proof["nodes"]
    if sorted(row["node"] for row in rows) != sorted(proved.nodes):
        yield "the proof does not have each node of the input once"
        return
    for row in rows:
        if row["reason"] not in range(len(core)):
            yield f"{row['node']}: the core has no reason {row['reason']}"
            continue
        reason = core[row["reason"]]
        judge = _JUDGES.get(reason["kind"])
        if judge is None:
            yield f"{row['node']}: a {reason['kind']} cannot be recounted"
        elif fault := judge(proved, proved.nodes[row["node"]], reason, row):
            yield f"{row['node']}: {fault}"


# -- who stays --


def _faults_of_staying(proved: Proved) -> Iterator[str]:
    for key in sorted(proved.unknown):
        yield f"{key} is said to stay and is not in the input"
    reach = proved.reach
    for pod in proved.staying:
        if not pod.spec.node_name or pod.is_terminal:
            yield f"{pod.key} is said to stay and does not run"
        elif pod.is_terminating and "terminating" not in proved.kinds:
            yield f"{pod.key} is said to stay and is being deleted"
        elif reach is not None and pod.priority < reach and not _is_guarded(proved, pod, reach):
            yield f"{pod.key} is said to stay and may be evicted by a pod of priority {reach}"


def _is_guarded(proved: Proved, pod: Pod, reach: int) -> bool:
    """Whether a guard of the core and a spent budget of the core keep a running pod."""
    guard = pod.spec.allow_disruption_by_priority_greater_than_or_equal
    if guard is None or reach >= guard or pod.is_terminating:
        return False
    if not any(row["kind"] == "guard" and pod.key in row["facts"]["pods"] for row in proved.core):
        return False
    named = {row["object"].partition(" ")[2] for row in proved.core if row["kind"] == "budget"}
    budgets = proved.snapshot.pod_disruption_budgets
    return any(item.key in named and _is_spent_for(item, pod) for item in budgets)


def _is_spent_for(budget: PodDisruptionBudget, pod: Pod) -> bool:
    selector = budget.spec.selector
    return (
        budget.namespace == pod.namespace
        and selector is not None
        and bool(pod.metadata.labels)
        and selector.matches(pod.metadata.labels)
        and (budget.status.disruptions_allowed or 0) <= 0
        and pod.name not in budget.status.disrupted_pods
    )


# -- marks of nodes --


def _of_taint(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    facts = reason["facts"]
    for taint in node.spec.taints:
        if (taint.key, taint.value, taint.effect) == (facts["key"], facts["value"], facts["effect"]):
            tolerated = any(tolerates(item, taint) for item in proved.pod.spec.tolerations)
            return "the taint is tolerated" if tolerated or taint.effect == "PreferNoSchedule" else ""
    return "the node does not have the taint"


def _of_cordon(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    tolerated = any(
        item.key in ("", UNSCHEDULABLE)
        and item.effect in ("", "NoSchedule")
        and (item.operator == "Exists" or not item.value)
        for item in proved.pod.spec.tolerations
    )
    return "" if node.spec.unschedulable and not tolerated else "the node is not cordoned for the pod"


def _of_selector(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    key, value = reason["facts"]["key"], reason["facts"]["value"]
    if proved.pod.spec.node_selector.get(key) != value:
        return f"the pod does not select {key}={value}"
    return f"the node has {key}={value}" if node.metadata.labels.get(key) == value else ""


def _of_affinity(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    affinity = proved.pod.spec.affinity.node_affinity if proved.pod.spec.affinity else None
    if affinity is None or affinity.required is None:
        return "the pod has no required node affinity"
    facts = reason.get("facts")
    if facts is None:
        takes = affinity.required.matches(node.metadata.labels, node.name)
    else:
        terms = affinity.required.node_selector_terms
        fields = {"metadata.name": node.name} if facts["ofFields"] else node.metadata.labels
        wanted = requirement(facts["key"], facts["operator"], tuple(facts["values"]))
        written = [
            (item.key, item.operator, list(item.values))
            for term in terms
            for item in (term.match_fields if facts["ofFields"] else term.match_expressions)
        ]
        if len(terms) != 1 or (facts["key"], facts["operator"], facts["values"]) not in written:
            return "the pod's node affinity does not ask for that"
        takes = wanted.matches(fields)
    return "the node satisfies the affinity" if takes else ""


# -- amounts --


def _here(proved: Proved, node: Node) -> list[Pod]:
    return [pod for pod in proved.staying if pod.spec.node_name == node.name]


def _of_request(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    resource = reason["facts"]["resource"]
    wanted = pod_requests(proved.pod).get(resource, 0)
    offered = in_units(node.status.allocatable).get(resource, 0)
    held = sum(running_pod_requests(pod).get(resource, 0) for pod in _here(proved, node))
    return _short(row, resource, wanted, offered, held)


def _of_slot(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    offered = in_units(node.status.allocatable).get("pods", 0)
    return _short(row, "pods", 1, offered, len(_here(proved, node)))


def _short(row: Mapping[str, Any], resource: str, wanted: int, offered: int, held: int) -> str:
    """Compare the numbers of a row with those that were added up here."""
    if row.get("resource") != resource:
        return f"the sums are of {resource}, not of {row.get('resource')}"
    numbers = {"wanted": wanted, "allocatable": offered, "held": held, "free": offered - held}
    for name, number in numbers.items():
        if row.get(name) != _amount(resource, number):
            return f"{name} is {_amount(resource, number)} {resource}, not {row.get(name)}"
    return "" if wanted > offered - held else f"{resource} is not short"


def _amount(resource: str, number: int) -> str:
    return format_quantity(Fraction(number, 1000) if resource == "cpu" else Fraction(number))


def _of_port(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    facts = reason["facts"]
    wanted = (facts["port"], facts["protocol"])
    everywhere = {"", "0.0.0.0"}
    for pod in _here(proved, node):
        sidecars = (item for item in pod.spec.init_containers if item.is_sidecar)
        for container in (*pod.spec.containers, *sidecars):
            for port in container.ports:
                address = port.host_ip or ""
                meets = address == facts["hostIP"] or everywhere & {address, facts["hostIP"]}
                if port.host_port > 0 and (port.host_port, port.protocol) == wanted and meets:
                    return ""
    return "no pod that stays has the port"


def _of_gate(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    names = [gate.name for gate in proved.pod.spec.scheduling_gates]
    return "" if reason["facts"]["gate"] in names else "the pod does not have the gate"


def _of_volume(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    name = reason["facts"]["volume"]
    volume = next((item for item in proved.snapshot.persistent_volumes if item.name == name), None)
    affinity = None if volume is None else volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return "the volume is reached from every node"
    reached = affinity.required.matches(node.metadata.labels, node.name)
    return "the volume is reached from here" if reached else ""


def _of_scheduler(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    configuration = proved.snapshot.configuration
    profiles = configuration.profiles if configuration is not None else ()
    names = [profile.scheduler_name for profile in profiles] or ["default-scheduler"]
    return "a profile has that name" if proved.pod.spec.scheduler_name in names else ""


def _of_running_term(proved: Proved, node: Node, reason: Mapping[str, Any], row: Mapping[str, Any]) -> str:
    """Look for a pod that stays in the node's domain and whose term selects the pod."""
    key = reason["facts"]["topologyKey"]
    domain = node.metadata.labels.get(key)
    for pod in proved.staying:
        home = proved.nodes.get(pod.spec.node_name or "")
        if pod.key not in reason["facts"]["pods"] or home is None or domain is None:
            continue
        affinity = pod.spec.affinity.pod_anti_affinity if pod.spec.affinity else None
        for term in () if affinity is None else affinity.required:
            if (
                term.topology_key == key
                and home.metadata.labels.get(key) == domain
                and proved.term_accepts(pod, term, proved.pod)
            ):
                return ""
    return "no pod that stays in its domain keeps the pod away"


_JUDGES: dict[str, Callable[[Proved, Node, Mapping[str, Any], Mapping[str, Any]], str]] = {
    "taint": _of_taint,
    "unschedulable": _of_cordon,
    "nodeSelector": _of_selector,
    "nodeAffinity": _of_affinity,
    "request": _of_request,
    "slot": _of_slot,
    "hostPort": _of_port,
    "schedulingGate": _of_gate,
    "volumeReach": _of_volume,
    "schedulerName": _of_scheduler,
    "runningAntiAffinity": _of_running_term,
    "podAffinity": of_company,
    "podAntiAffinity": of_distance,
    "topologySpread": of_spread,
}
