"""DynamicResources: a pod's claims get their devices, all at once, where the pod goes.

An allocated claim binds the pod to the nodes from which its devices are reached. Claims that are not
allocated yet are allocated for each node in Filter; the chosen node's answer is kept by Reserve. Every
refusal is final for preemption: no victim frees a device.

Source: kube-scheduler plugins/dynamicresources (dynamicresources.go, extendeddynamicresources.go).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from ...models.config import PluginArgs
from ...models.quantity import format_quantity
from ..dra.allocation import Allocation, write
from ..dra.answers import ERROR, FAULTY, FITS, NO_ROOM, TIMEOUT, Answer, Answers
from ..dra.claims import ClaimSpec
from ..dra.extended import IN_MEMORY, claim_for, mapped_resources, offered, requested
from ..dra.index import DeviceIndex, device_index
from ..dra.pod_claims import ClaimProblem, extended_claim
from ..dra.repeats import Repeats
from ..dra.search import Manner
from ..index.missing import Missing
from ..vocabulary import names
from ..vocabulary.arrays import Bools, Ints
from ..vocabulary.status import Code, Status
from .base import FilterPlugin, ScorePlugin, Verdicts, default_normalize

if TYPE_CHECKING:
    from ..dra.state import ClaimState
    from ..index.cluster import Cluster
    from ..state.state import State

REASON_ALLOCATE: Final = "cannot allocate all claims"
REASON_ELSEWHERE: Final = "resourceclaim not available on the node"
REASON_TIMEOUT: Final = "timed out trying to allocate devices"
REASON_FAULTY: Final = "invalid resource pools were encountered"
REASON_IN_USE: Final = "resourceclaim in use"
REASON_STALE: Final = "cannot schedule extended resource claim"
NOTHING_HELPS: Final = "still not schedulable"
DEALLOCATED: Final = "deallocation of ResourceClaim completed"
DELETED: Final = "deletion of ResourceClaim completed"
NO_STATE: Final = "not found"
"""The error in which PostFilter ends where another plugin refused the pod before this one's PreFilter."""

MOST_ALTERNATIVES: Final = 8
"""Subrequests of a `firstAvailable` (FirstAvailableDeviceRequestMaxSize): what the first one scores."""

MOST_CONSUMERS: Final = 256
"""Pods and pod groups for which a claim can be reserved."""

_ELSEWHERE: Final = 2
"""The one verdict that is not the allocator's."""


_REASONS: Final = {
    NO_ROOM: REASON_ALLOCATE,
    _ELSEWHERE: REASON_ELSEWHERE,
    TIMEOUT: REASON_TIMEOUT,
    FAULTY: REASON_FAULTY,
}


@dataclass(slots=True, eq=False)
class _Pod:
    """What PreFilter knows.

    Attributes
    ----------
    free : tuple of str
        The claims that are to be allocated, in the pod's order.
    bound : list of (str, bool[N])
        The allocated claims, with the nodes from which their devices are reached.
    extended : tuple of str
        The resources that devices serve where a node does not offer them.
    stale : str
        The claim that an earlier attempt left for these; empty for none.
    answers : list of (bool[N], Answers or None)
        The nodes divided by which of these they offer themselves, and what the allocator says there; None
        where there is nothing to allocate.
    """

    pod: int
    free: tuple[str, ...]
    bound: list[tuple[str, Bools | None]]
    extended: tuple[str, ...]
    stale: str
    answers: list[tuple[Bools, Answers | None]]


@dataclass(slots=True, eq=False)
class _Fork:
    """A node; pods that come and go change nothing."""

    pod: _Pod
    state: "State"
    node: int


class FreedClaim(NamedTuple):
    """What PostFilter says (always Unschedulable), and the claim that it frees, empty for none."""

    reason: str
    claim: str = ""


NOTHING_FREED: Final = FreedClaim("no new claims to deallocate")
"""What PostFilter says about a pod that PreFilter skipped or refused."""


class DynamicResources(FilterPlugin, ScorePlugin):
    """See the module's docstring."""

    name: ClassVar[str] = names.DYNAMIC_RESOURCES
    in_turn: ClassVar[bool] = True
    codes: ClassVar[tuple[Code, ...]] = (
        Code.SUCCESS,
        Code.UNRESOLVABLE,
        Code.UNRESOLVABLE,
        Code.UNRESOLVABLE,
        Code.ERROR,
        Code.UNRESOLVABLE,
    )

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._index = device_index(cluster)
        if self._index is not None and any(self._index.asks(i) for i in cluster.pending):
            _ = self._index.specs  # a selector that does not compile is told before anything is printed
        self._answers: dict[tuple[int, ...], Answers] = {}
        self._repeats: dict[Answers, Repeats] = {}
        self._everywhere = np.ones(cluster.n_nodes, dtype=np.bool_)

    # -- before the queue and before the nodes --

    def pre_enqueue(self, i: int) -> Status | None:
        """Say why pod i cannot be tried yet; None where it can."""
        if self._index is not None:
            try:
                self._index.claims_of(i)
            except ClaimProblem as problem:
                return self._refuse(str(problem))
        return None

    def is_settled(self, i: int) -> bool:
        """Whether the pod has no claims, and asks for nothing that devices may serve."""
        return self._index is None or not self._index.asks(i)

    def pre_filter(self, state: "State", i: int) -> _Pod | Status | None:
        """Look at the pod's claims; skips a pod without any."""
        index = self._index
        if index is None or state.claims is None or not index.asks(i):
            return None
        try:
            keys = [claim.key for claim in index.claims_of(i)]
        except ClaimProblem as problem:
            return self._refuse(str(problem))
        extended = requested(self.cluster, i)
        if not keys and not extended:
            return None
        free: list[str] = []
        bound: list[tuple[str, Bools | None]] = []
        for key in keys:
            refusal = self._refuse_claim(state.claims, key, i)
            if refusal is not None:
                return refusal
            allocation = state.claims.allocations.get(key)
            if allocation is None:
                free.append(key)
            else:
                bound.append((key, index.reach(allocation)))
        stale = self._stale(state.claims, i, extended)
        answers = self._divide(index, i, [index.spec(key) for key in free], extended)
        return _Pod(i, tuple(free), bound, extended, stale, answers)

    def refuses(self, i: int) -> bool:
        """Whether the pod waits for claims that do not exist."""
        try:
            _ = () if self._index is None else self._index.claims_of(i)
        except ClaimProblem:
            return True
        return False

    def _refuse(self, reason: str) -> Status:
        return Status(Code.UNRESOLVABLE, self.name, (reason,))

    def _refuse_claim(self, claims: "ClaimState", key: str, i: int) -> Status | None:
        """Say what is wrong with a claim before any node is looked at; None for nothing."""
        assert self._index is not None
        consumers = claims.reserved.get(key, frozenset())
        if len(consumers) >= MOST_CONSUMERS and i not in consumers:
            return self._refuse(REASON_IN_USE)
        allocation = claims.allocations.get(key)
        if allocation is not None:
            selector = allocation.selector
            if selector is not None and any(term.unparsable for term in selector.compiled.terms):
                return Status(
                    Code.ERROR, self.name, (f"claim {key}: its allocation's node selector is not valid",)
                )
            return None
        for request in self._index.spec(key).requests:
            if request.prioritized and not self.cluster.gates.enabled("DRAPrioritizedList"):
                text = "has subrequests, but the DRAPrioritizedList feature is disabled"
                return self._refuse(f"resource claim {key}, request {request.name}: {text}")
            for want in request.wants:
                if want.selection is None:
                    return self._refuse(
                        f"request {want.result}: device class {want.device_class} does not exist"
                    )
        return None

    def _stale(self, claims: "ClaimState", i: int, extended: Sequence[str]) -> str:
        """Return the claim that an earlier attempt left for the pod's extended resources; empty for none."""
        if not extended or self._index is None:
            return ""
        left = extended_claim(self.cluster.pods[i].pod, self._index.claims)
        return left.key if left is not None and left.key in claims.left_over else ""

    # -- the nodes --

    def filter_all(self, data: _Pod, state: "State", i: int) -> Verdicts:
        """Judge every node."""
        return self.filter_passed(data, state, i, np.ones(self.cluster.n_nodes, dtype=np.bool_))

    def filter_passed(self, data: _Pod, state: "State", i: int, passed: Bools) -> Verdicts:
        """Judge the nodes that passed everything else; the allocator is not asked about the others."""
        assert state.claims is not None
        if data.stale:
            return np.full(self.cluster.n_nodes, NO_ROOM, dtype=np.uint8)
        verdicts = np.zeros(self.cluster.n_nodes, dtype=np.uint8)
        for _, reached in data.bound:
            if reached is not None:
                verdicts[~reached] = _ELSEWHERE
        for nodes, answers in data.answers:
            if answers is not None:
                said = answers.verdicts(state.claims, passed & nodes)
                np.copyto(verdicts, said, where=nodes & (said != FITS))
        return verdicts

    def fork(self, data: _Pod, state: "State", i: int, n: int) -> _Fork:
        """Return the node."""
        return _Fork(data, state, n)

    def check(self, fork: _Fork) -> int:
        """Judge the node: that claims cannot be allocated is said before that others are out of reach."""
        verdict = self._answer(fork.pod, fork.state, fork.node).verdict
        return verdict or (_ELSEWHERE if self._unreachable(fork.pod, fork.node) else 0)

    def permits(self, fork: _Fork) -> int:
        """Judge the node: whether the claims can be allocated at all, be it that the search overlooks it."""
        verdict = self._answer(fork.pod, fork.state, fork.node, permitted=True).verdict
        return verdict or (_ELSEWHERE if self._unreachable(fork.pod, fork.node) else 0)

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say why."""
        if verdict == ERROR:
            answer = self._answer(fork.pod, fork.state, fork.node)
            if answer.verdict != ERROR:
                answer = self._answer(fork.pod, fork.state, fork.node, permitted=True)
            return (self._error(fork.pod, answer),)
        if verdict == NO_ROOM and fork.pod.stale:
            return (REASON_STALE,)
        return (_REASONS[verdict],)

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Name the claims."""
        if verdict == _ELSEWHERE:
            return tuple(
                Missing(key, f"the devices of claim {key} are not reached from here", facts={"claim": key})
                for key in self._unreachable(fork.pod, fork.node)
            )
        wanted = [*fork.pod.free, *fork.pod.extended] if verdict == NO_ROOM and not fork.pod.stale else []
        text = f"no free devices here for all of {', '.join(wanted)}"
        if not wanted:
            return ()
        return (Missing("devices", text, facts={"claims": wanted}), *self._exhausted(fork))

    def _exhausted(self, fork: _Fork) -> Iterator[Missing]:
        """Yield the counters that alone keep the pod's claims from the node."""
        assert fork.state.claims is not None
        answers = next(answers for nodes, answers in fork.pod.answers if nodes[fork.node])
        if answers is None or not self._index or not self._index.inventory.counters.values:
            return
        for label, value, left in answers.exhausted(fork.state.claims, fork.node):
            text = f"counter {label} has {format_quantity(left)} of {format_quantity(value)} left: too little"
            facts = {"counter": label, "left": format_quantity(left), "value": format_quantity(value)}
            yield Missing("counter", text, facts=facts)

    def _unreachable(self, data: _Pod, n: int) -> list[str]:
        """Return the allocated claims whose devices node n does not reach."""
        return [key for key, nodes in data.bound if nodes is not None and not nodes[n]]

    def _answer(self, data: _Pod, state: "State", n: int, *, permitted: bool = False) -> Answer:
        """Ask the allocator about node n, or what its rules permit there."""
        if data.stale:
            return Answer(NO_ROOM)
        assert state.claims is not None
        answers = next(answers for nodes, answers in data.answers if nodes[n])
        if answers is None:
            return Answer(FITS)
        return (answers.permitted if permitted else answers).at(state.claims, n)

    def _error(self, data: _Pod, answer: Answer) -> str:
        """Write the error that an answer is."""
        assert answer.refusal is not None
        keys = (*data.free, f"{self.cluster.pods[data.pod].namespace}/{IN_MEMORY}")
        return answer.refusal.message(keys[answer.claim])

    def _divide(
        self, index: DeviceIndex, i: int, specs: Sequence[ClaimSpec], extended: Sequence[str]
    ) -> list[tuple[Bools, Answers | None]]:
        """Find the allocator's answers: others where nodes offer other extended resources themselves."""
        divided: list[tuple[Bools, tuple[str, ...]]] = [(self._everywhere, ())]
        for resource in extended:
            own = offered(self.cluster, resource)
            divided = [
                part
                for nodes, missing in divided
                for part in ((nodes & own, missing), (nodes & ~own, (*missing, resource)))
            ]
        classes, pod = mapped_resources(self.cluster), self.cluster.pods[i].pod
        found: list[tuple[Bools, Answers | None]] = []
        for nodes, missing in divided:
            made = (
                [index.specs.of(claim_for(pod, {name: classes[name] for name in missing}))] if missing else []
            )
            found.append((nodes, self._answers_to(index, (*specs, *made))))
        return found

    def _answers_to(self, index: DeviceIndex, specs: tuple[ClaimSpec, ...]) -> Answers | None:
        """Return the answers to some claims, the same for all pods that ask for the same."""
        if not specs:
            return None
        key = tuple(spec.number for spec in specs)
        found = self._answers.get(key)
        if found is None:
            release = self.cluster.release
            loses = release.lost_counters and bool(index.inventory.counters.values)
            manner = Manner(release.repeated_shares, loses)
            found = self._answers[key] = Answers(index.inventory, specs, manner)
        return found

    def repeats(self, data: _Pod) -> Repeats | None:
        """Return how often claims like the pod's find devices; None where it has others than free ones."""
        answers = data.answers[0][1]
        if data.bound or data.extended or answers is None or self._index is None:
            return None
        found = self._repeats.get(answers)
        if found is None:
            found = self._repeats[answers] = Repeats(answers, self._index.inventory.pools_of_nodes)
        return found

    # -- the nodes that passed --

    def may_prefer(self, i: int) -> bool:
        """Whether the pod has claims, or asks for what devices may serve."""
        return not self.is_settled(i)

    def pre_score(self, state: "State", i: int, nodes: Ints) -> _Pod | tuple[()]:
        """Return what PreFilter knows; nothing for a pod without claims, which is scored all the same."""
        data = self.pre_filter(state, i)
        return data if isinstance(data, _Pod) else ()

    def score(self, data: _Pod | tuple[()], state: "State", i: int, nodes: Ints) -> Ints:
        """Sum over requests with alternatives what the allocated one is worth: the earlier, the more."""
        if not isinstance(data, _Pod) or self._index is None or state.claims is None:
            return np.zeros(len(nodes), dtype=np.int64)
        specs = [self._index.spec(key) for key in data.free]
        fixed = sum(
            _worth(
                self._index.spec(key), [result.request for result in state.claims.allocations[key].results]
            )
            for key, _ in data.bound
        )
        if not any(request.prioritized for spec in specs for request in spec.requests):
            return np.full(len(nodes), fixed, dtype=np.int64)
        found = [
            sum(
                _worth(spec, [pick.want.result for pick in picks])
                for spec, picks in zip(specs, self._answer(data, state, n).picks, strict=False)
            )
            for n in nodes.tolist()
        ]
        return fixed + np.array(found, dtype=np.int64)

    def normalize(self, data: _Pod | tuple[()], scores: Ints) -> Ints:
        """Scale so that the best node has 100."""
        return default_normalize(scores)

    # -- afterwards --

    def reserve(self, data: _Pod, state: "State", i: int, n: int) -> dict[str, Allocation]:
        """Return the allocations that pod i brings along to node n, by claim.

        Where the search finds none, as for a node that no cycle chose, they are those that it could find.
        """
        answer = self._answer(data, state, n)
        if answer.verdict:
            answer = self._answer(data, state, n, permitted=True)
        name = self.cluster.node_names[n]
        keys = (*data.free, f"{self.cluster.pods[i].key}-extended-resources")
        return {key: write(key, picks, name) for key, picks in zip(keys, answer.picks, strict=False)}

    def post_filter(self, data: _Pod, state: "State", i: int, rejected: Sequence[int]) -> FreedClaim:
        """Look for a claim that can be allocated anew: one that keeps pod i away and that nobody else needs.

        Of several the first in the pod's order; upstream takes any.

        Parameters
        ----------
        data : _Pod
        state : State
        i : int
        rejected : sequence of int
            The nodes that this plugin rejected.
        """
        if data.stale:
            return FreedClaim(DELETED, data.stale)
        if not data.bound:
            return FreedClaim(NOTHING_HELPS)
        assert state.claims is not None
        blamed = {
            key
            for n in rejected
            if not self._answer(data, state, n).verdict
            for key in self._unreachable(data, n)
        }
        for key, _ in data.bound:
            if key in blamed and state.claims.reserved.get(key, frozenset()) <= {i}:
                return FreedClaim(DEALLOCATED, key)
        return FreedClaim(NOTHING_HELPS)


def _worth(spec: ClaimSpec, allocated: Sequence[str]) -> int:
    """Return the score of one claim, given what its devices were allocated for (`request/alternative`)."""
    return sum(
        MOST_ALTERNATIVES - place
        for request in spec.requests
        if request.prioritized
        for place, want in enumerate(request.wants)
        if want.result in allocated
    )
