"""What the scheduler knows about a pod before it looks at where pods are."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from operator import attrgetter
from typing import Final

from ...models.features import FeatureGates
from ...models.pod import Pod
from ...models.requests import pod_requests, running_pod_requests, running_scoring_requests, scoring_requests
from ...models.selectors import CompiledSelector
from .affinity import PodTerms
from .ports import HostPort

EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True, eq=False)
class PodInfo:
    """A pod of the cluster; never changed once its cluster is built.

    Attributes
    ----------
    index : int
        Its place in `Cluster.pods`.
    key : str
        `namespace/name`.
    preempts : bool
        Whether it may look for victims: preemptionPolicy is not Never, and its profile comes as far as that.
    guard : int or None
        KEP-4664: only a preemptor of at least this priority may break this pod's budgets; None where nothing
        guards it, or where the gate is off.
    request, usage : tuple of int
        By `Cluster.resources`: as a pod to be placed, and as a pod on a node (in-place resize).
    score_request : tuple of int
        As a pod to be placed, with the scorer's defaults for cpu and memory.
    nonzero : (int, int)
        cpu and memory as a pod on a node, with the scorer's defaults.
    ports : frozenset of HostPort
    terms : PodTerms
        Inter-pod affinity.
    cls : int
        Equal for pods that no filter and no score can tell apart as incoming pods.
    but_claims : int
        The same for all filters and scores that do not look at resource claims: equal for pods that would be
        of one class but for the claims that they have.
    label_cls : int
        Equal for pods of equal namespace and labels.
    unit : int
        Equal for pods of equal namespace, labels, affinity terms and host ports: what counting sees.
    signature : int
        Equal for pods that differ in nothing but `unit` to any filter and score (`Readings.signatures`).
    terminating, preempted : bool
        In the input: being deleted; and that because of preemption.
    start : datetime
        When it started; the time of the round where it has not.
    created : datetime
        Its place in the queue among equal priorities.
    initial_node : int
        The node it is on in the input, -1 for none.
    nominated : str
        The input's nominatedNodeName, empty for none.
    held : frozenset of str
        KEP-3990: the fallback criteria that hold for it in the input; empty where the gate is off.
    default_selector : CompiledSelector
        What default spreading constraints select (services and controller), empty for nothing.
    """

    index: int
    pod: Pod
    key: str
    namespace: str
    labels: Mapping[str, str]
    priority: int
    preempts: bool
    guard: int | None
    scheduler: str
    request: tuple[int, ...]
    usage: tuple[int, ...]
    score_request: tuple[int, ...]
    nonzero: tuple[int, int]
    ports: frozenset[HostPort]
    terms: PodTerms
    terminating: bool
    preempted: bool
    start: datetime
    created: datetime
    initial_node: int
    nominated: str
    held: frozenset[str]
    default_selector: CompiledSelector
    cls: int = -1
    but_claims: int = -1
    label_cls: int = -1
    unit: int = -1
    signature: int = -1

    def again(self) -> "PodInfo":
        """Return a copy, for another cluster."""
        return PodInfo(*_VALUES(self))


_VALUES: Final = attrgetter(*(item.name for item in fields(PodInfo)))


@dataclass(frozen=True, slots=True)
class Requests:
    """A pod's requests by resource name, from each of the four points of view."""

    request: Mapping[str, int]
    usage: Mapping[str, int]
    score_request: Mapping[str, int]
    score_usage: Mapping[str, int]


class RequestsIndex:
    """The requests of pods, computed once for those that have equal parts in common.

    It goes by identity, and keeps a pod of each kind for that.
    """

    def __init__(self, gates: FeatureGates) -> None:
        self._in_place = gates.enabled("InPlacePodVerticalScaling")
        self._known: dict[tuple[object, ...], tuple[Pod, Requests]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def of(self, pod: Pod, *, on_node: bool) -> Requests:
        """Return a pod's requests; a pod that is on no node has no status that could differ from its spec."""
        spec, status = pod.spec, pod.status
        given = [
            (item.name, id(item.resources), id(item.allocated_resources))
            for item in (*status.container_statuses, *status.init_container_statuses)
            if on_node and item.resources is not None
        ]
        if spec.resources is not None or spec.overhead or (given and pod.condition("PodResizePending")):
            return _requests_of(pod, on_node=on_node, in_place=self._in_place)
        key = (id(spec.containers), id(spec.init_containers), *given)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = pod, _requests_of(pod, on_node=on_node, in_place=self._in_place)
        return found[1]


def _requests_of(pod: Pod, *, on_node: bool, in_place: bool) -> Requests:
    request = pod_requests(pod)
    scored = scoring_requests(pod)
    if on_node and in_place:
        return Requests(request, running_pod_requests(pod), scored, running_scoring_requests(pod))
    if pod.spec.resources is None and not on_node:
        return Requests(request, request, scored, scored)
    spec_only = pod.model_copy(
        update={
            "status": pod.status.model_copy(update={"container_statuses": (), "init_container_statuses": ()})
        }
    )
    return Requests(request, request, scored, running_scoring_requests(spec_only))


def without_gated_fields(pod: Pod, gates: FeatureGates) -> Pod:
    """Return the pod as a scheduler sees it whose gates ignore some of its fields."""
    spec = pod.spec
    changes: dict[str, object] = {}
    if spec.resources is not None and not gates.enabled("PodLevelResources"):
        changes["resources"] = None
    if any(c.is_sidecar for c in spec.init_containers) and not gates.enabled("SidecarContainers"):
        changes["init_containers"] = tuple(
            c.model_copy(update={"restart_policy": None}) for c in spec.init_containers
        )
    if spec.scheduling_gates and not gates.enabled("PodSchedulingReadiness"):
        changes["scheduling_gates"] = ()
    if (spec.workload_ref or spec.scheduling_group) and not gates.enabled("GenericWorkload"):
        changes |= {"workload_ref": None, "scheduling_group": None}
    if not changes:
        return pod
    return pod.model_copy(update={"spec": spec.model_copy(update=changes)})


def terminates_by_preemption(pod: Pod) -> bool:
    """Whether a pod is being deleted because the scheduler preempted it."""
    target = pod.condition("DisruptionTarget")
    return (
        pod.is_terminating
        and target is not None
        and target.status == "True"
        and target.reason == "PreemptionByScheduler"
    )
