"""The immutable index of a snapshot: nodes, pods, resources and domains by number.

Everything that does not depend on where pods are is computed here once, or on demand and then kept (`memo`).
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from ...models.pod import Pod
from ...models.progress import Watch, unwatched
from ...models.snapshot import Snapshot
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.domains import Domains
from ..vocabulary.profile import Profile, profiles_of
from ..vocabulary.releases import RELEASES
from ..vocabulary.resources import FIRST_RESOURCES
from .affinity import parse_terms
from .fallback import criteria_held
from .matchers import MatcherIndex
from .owners import DefaultSelectors
from .podinfo import (
    EARLIEST,
    PodInfo,
    Requests,
    terminates_by_preemption,
    without_gated_fields,
)
from .ports import host_ports
from .queue_order import queue_key
from .readings import Readings
from .taints import TaintClasses

if TYPE_CHECKING:
    from ...models.config import (
        NodeResourcesBalancedAllocationArgs,
        NodeResourcesFitArgs,
        PodTopologySpreadArgs,
    )
    from ...models.node import Node

T = TypeVar("T")

# What else than a pod itself, the time, services and controllers decides how it is read (`_reads_alike`).
_READ_WITH: Final = ("feature_gates", "kube_version", "configuration")

# Scores multiply an amount by 100; sums and products of amounts below this stay inside 64 bits.
_EXACT_IN_64_BITS: Final = 2**55

# Pods between two reports of how many are read.
_PODS_UNHEARD: Final = 1024


class Cluster:
    """A snapshot by number. Nodes and pods keep the order of the input.

    Pods that another cluster has read already (`like`) are not read again.

    Attributes
    ----------
    snapshot : Snapshot
    gates : FeatureGates
    release : Release
        The rules of the kube-scheduler that is rebuilt.
    nodes : tuple of Node
    node_names : tuple of str
    node_index : dict
        Name to number.
    n_nodes : int
    namespaces : dict
        Name to labels, for every namespace of the input and every one that a pod is in.
    pods : tuple of PodInfo
        Bound, pending, gated and terminating pods; finished pods and pods on nodes that do not exist are left
        out.
    pod_index : dict
        `namespace/name` to number.
    pending : tuple of int
        The active queue in its order: priority descending, creation ascending, input order.
    round : tuple of int
        The queue of the whole round, where `pending` is that of a part (`with_queue`).
    asked : frozenset of int
        The pods that `Snapshot.asked` names.
    kept : frozenset of int
        The pods that `Snapshot.kept` names.
    gated, untried, bound : tuple of int
        Pods with scheduling gates; pending pods whose schedulerName has no profile; pods on nodes.
    resources : tuple of str
        Names by row of the arrays below: cpu (milli), memory, ephemeral-storage, then whatever a pod or a
        scoring strategy names.
    allocatable : int[R, N]
        int64, or Python integers (dtype object) where 64 bits could overflow; so are the next two.
    usage : int[P, R]
        What each pod takes on a node.
    nonzero : int[P, 2]
        cpu and memory of each pod on a node, with the scorer's defaults.
    allowed_pods : int64[N]
    units : MatcherIndex
        Counting by selector, over count classes.
    unit_of : int64[P]
        The count class of each pod.
    unit_pods : list of int
        A pod of each count class.

    readings : Readings
        What is handed on to a cluster like this one.

    `units`, `unit_of`, `unit_pods` and the numbers of classes in `pods` are there once `framework.build` has
    classified the pods.
    """

    units: MatcherIndex
    unit_of: Ints
    unit_pods: list[int]

    def __init__(
        self, snapshot: Snapshot, watch: Watch = unwatched, *, like: "Cluster | None" = None
    ) -> None:
        self.snapshot = snapshot
        self.gates = snapshot.feature_gates.known_to(snapshot.kube_version)
        self.nodes: Sequence[Node] = snapshot.nodes
        self.node_names = tuple(node.name for node in snapshot.nodes)
        self.node_index = {name: n for n, name in enumerate(self.node_names)}
        self.n_nodes = len(self.node_names)
        self.release = RELEASES[snapshot.kube_version]
        self.profiles = profiles_of(snapshot.configuration, self.release, self.gates, file=snapshot.name)
        self.namespaces = self._namespaces()
        self._selectors = DefaultSelectors(snapshot)
        self._memo: dict[Hashable, Any] = {}
        self._domains: dict[str, Domains] = {}
        before = like.readings if like is not None and self._reads_alike(like) else None
        self.readings: Readings = Readings(self.gates, before)
        self.pods, requests = self._read_pods(watch)
        self.pod_index = {info.key: info.index for info in self.pods}
        self.asked = frozenset(self.pod_index[key] for key in snapshot.asked if key in self.pod_index)
        self.kept = frozenset(self.pod_index[key] for key in snapshot.kept if key in self.pod_index)
        self._number_resources(requests)
        self._queue()

    def _namespaces(self) -> dict[str, Mapping[str, str]]:
        # The API server labels every namespace with its name; one that a dump lacks has at least that label.
        known: dict[str, Mapping[str, str]] = {
            pod.namespace: {"kubernetes.io/metadata.name": pod.namespace} for pod in self.snapshot.pods
        }
        known.update(
            (item.name, {"kubernetes.io/metadata.name": item.name, **item.metadata.labels})
            for item in self.snapshot.namespaces
        )
        return known

    def _relevant_pods(self) -> Iterator[tuple[Pod, int]]:
        for pod in self.snapshot.pods:
            if pod.is_terminal:
                continue
            node = -1
            if pod.spec.node_name:
                node = self.node_index.get(pod.spec.node_name, -1)
                if node < 0:
                    continue
            yield pod, node

    def _reads_alike(self, other: "Cluster") -> bool:
        """Whether both read a pod in the same way, but for the time."""
        mine, theirs = self.snapshot, other.snapshot
        return (
            all(getattr(mine, name) is getattr(theirs, name) for name in _READ_WITH)
            and self.namespaces == other.namespaces
            and self._selectors.select_alike(other._selectors)  # noqa: SLF001
        )

    def _read_pods(self, watch: Watch) -> tuple[tuple[PodInfo, ...], list[Requests]]:
        readings = self.readings
        gates, now = self.gates, self.snapshot.now
        sidecars = gates.enabled("SidecarContainers")
        guards = gates.enabled("DisruptionPolicyInPriorityClass")
        fallback = gates.enabled("PodTopologySpreadFallbackMode")
        spread = {
            name: cast("PodTopologySpreadArgs", profile.args(names.POD_TOPOLOGY_SPREAD))
            for name, profile in self.profiles.items()
        }
        preempting = {name for name, profile in self.profiles.items() if profile.preempts}

        def held(pod: Pod) -> frozenset[str]:
            return criteria_held(pod, spread.get(pod.spec.scheduler_name), now) if fallback else frozenset()

        infos: list[PodInfo] = []
        requests: list[Requests] = []
        for source, node in self._relevant_pods():
            if len(infos) % _PODS_UNHEARD == 0:
                watch("indexing: pods", len(infos), len(self.snapshot.pods))
            read = readings.known(source)
            if read is not None and (read[0].initial_node >= 0) == (node >= 0):
                info = read[0].again()
                info.index, info.initial_node = len(infos), node
                info.start = source.status.start_time or now
                if fallback and (holds := held(info.pod)) != info.held:
                    info.held, info.signature = holds, -1
                infos.append(info)
                requests.append(read[1])
                readings.keep(source, info, read[1])
                continue
            pod = without_gated_fields(source, self.gates)
            spec = pod.spec
            requests.append(readings.wanted.of(pod, on_node=node >= 0))
            labels = pod.metadata.labels
            infos.append(
                PodInfo(
                    index=len(infos),
                    pod=pod,
                    key=pod.key,
                    namespace=pod.namespace,
                    labels=labels,
                    priority=pod.priority,
                    preempts=spec.preemption_policy != "Never" and spec.scheduler_name in preempting,
                    guard=spec.allow_disruption_by_priority_greater_than_or_equal if guards else None,
                    scheduler=spec.scheduler_name,
                    request=(),
                    usage=(),
                    score_request=(),
                    nonzero=(0, 0),
                    ports=host_ports(pod, sidecars=sidecars),
                    terms=parse_terms(pod, self.namespaces),
                    terminating=pod.is_terminating,
                    preempted=terminates_by_preemption(pod),
                    start=pod.status.start_time or now,
                    created=pod.metadata.creation_timestamp or EARLIEST,
                    initial_node=node,
                    nominated=pod.status.nominated_node_name or "",
                    held=held(pod),
                    default_selector=self._selectors.select(pod.namespace, labels, pod.metadata.controller),
                )
            )
            readings.keep(source, infos[-1], requests[-1])
        return tuple(infos), requests

    def _number_resources(self, requests: list[Requests]) -> None:
        seen = dict.fromkeys(FIRST_RESOURCES)
        for wanted in {id(each): each for each in requests}.values():
            seen.update(dict.fromkeys(wanted.request))
            seen.update(dict.fromkeys(wanted.usage))
        for profile in self.profiles.values():
            fit = cast("NodeResourcesFitArgs", profile.args(names.NODE_RESOURCES_FIT))
            balanced = cast("NodeResourcesBalancedAllocationArgs", profile.args(names.BALANCED_ALLOCATION))
            seen.update((item.name, None) for item in (*fit.scoring_strategy.resources, *balanced.resources))
        self.resources = tuple(seen)
        self.resource_index = {name: r for r, name in enumerate(self.resources)}

        def vector(amounts: Mapping[str, int]) -> tuple[int, ...]:
            return tuple(amounts.get(name, 0) for name in self.resources)

        if self.readings.begin_signatures(self.resources):
            for info in self.pods:
                info.signature = -1
        known: dict[int, PodInfo] = {}
        copies: Counter[int] = Counter()
        for info, wanted in zip(self.pods, requests, strict=True):
            alike = known.setdefault(id(wanted), info)
            copies[id(wanted)] += 1
            if alike is info:
                info.request = vector(wanted.request)
                info.usage = info.request if wanted.usage is wanted.request else vector(wanted.usage)
                info.score_request = vector(wanted.score_request)
                info.nonzero = (wanted.score_usage.get("cpu", 0), wanted.score_usage.get("memory", 0))
            else:
                info.request, info.usage = alike.request, alike.usage
                info.score_request, info.nonzero = alike.score_request, alike.nonzero

        offered = [self.readings.offered(node) for node in self.nodes]
        most = max((amount for node in offered for amount in node.values()), default=0)
        taken = sum(
            copies[each] * (sum(map(max, info.usage, info.score_request)) + sum(info.nonzero))
            for each, info in known.items()
        )
        self.dtype: type = np.int64 if max(most, taken) < _EXACT_IN_64_BITS else object

        def table(rows: list[tuple[int, ...]], width: int) -> NDArray[Any]:
            return np.array(rows, dtype=self.dtype).reshape(len(rows), width)

        width = len(self.resources)
        self.allocatable = table([vector(node) for node in offered], width).T.copy()
        self.usage = table([info.usage for info in self.pods], width)
        self.nonzero = table([info.nonzero for info in self.pods], 2)
        self.allowed_pods: Ints = np.array([node.get("pods", 0) for node in offered], dtype=np.int64)

    def _queue(self) -> None:
        pending: list[int] = []
        gated: list[int] = []
        untried: list[int] = []
        bound: list[int] = []
        for info in self.pods:
            if info.initial_node >= 0:
                bound.append(info.index)
            elif info.terminating:
                continue
            elif info.pod.spec.scheduling_gates:
                gated.append(info.index)
            elif info.scheduler in self.profiles:
                pending.append(info.index)
            else:
                untried.append(info.index)
        pending.sort(key=lambda i: queue_key(self.pods[i]))
        self.pending = self.round = tuple(pending)
        self.gated = tuple(gated)
        self.untried = tuple(untried)
        self.bound = tuple(bound)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Priorities of the round's pods, from the highest down."""
        return tuple(sorted({self.pods[i].priority for i in self.round}, reverse=True))

    @cached_property
    def priorities(self) -> tuple[int, ...]:
        """Priorities of all pods that take part, running or of the round, from the highest down."""
        return tuple(sorted({self.pods[i].priority for i in (*self.bound, *self.round)}, reverse=True))

    def with_queue(self, pods: Iterable[int]) -> "Cluster":
        """Return the same cluster with only some pods in the queue: a part of the round.

        Other pending pods are excluded. Numbers, `round`, `levels` and `priorities` stay the round's, so that
        every part has the same tiers, and they mean the same in each.
        """
        kept = frozenset(pods)
        part = copy(self)
        vars(part).update(pending=tuple(i for i in self.pending if i in kept), _memo={})
        return part

    def domains(self, key: str) -> Domains:
        """Return the nodes divided by a label."""
        found = self._domains.get(key)
        if found is None:
            found = self._domains[key] = Domains(key, self.nodes)
        return found

    @cached_property
    def guards(self) -> Ints:
        """Each pod's guard (KEP-4664), below every priority where nothing guards it; int64[P]."""
        unguarded = np.iinfo(np.int64).min
        return np.array([unguarded if i.guard is None else i.guard for i in self.pods], dtype=np.int64)

    @cached_property
    def lowest_priority(self) -> int:
        """The lowest priority of any pod, on a node or not; 0 where there are no pods."""
        return min((info.priority for info in self.pods), default=0)

    @cached_property
    def name_ranks(self) -> Ints:
        """The place of each node's name among all names in order; int64[N]."""
        ranks: Ints = np.empty(self.n_nodes, dtype=np.int64)
        ranks[sorted(range(self.n_nodes), key=self.node_names.__getitem__)] = np.arange(self.n_nodes)
        return ranks

    @cached_property
    def taints(self) -> TaintClasses:
        """The distinct lists of taints."""
        return TaintClasses([node.spec.taints for node in self.nodes])

    @cached_property
    def cordoned(self) -> Bools:
        """Which nodes are cordoned (`spec.unschedulable`); bool[N]."""
        return np.array([node.spec.unschedulable for node in self.nodes], dtype=np.bool_)

    def profile(self, i: int) -> Profile:
        """Return the profile of pod i's schedulerName; `KeyError` where it has none."""
        return self.profiles[self.pods[i].scheduler]

    def memo(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make()` returned the first time this key was asked for."""
        try:
            return cast("T", self._memo[key])
        except KeyError:
            value = self._memo[key] = make()
            return value
