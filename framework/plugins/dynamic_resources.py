"""DynamicResources: a pod's claims get their devices, all at once, where the pod goes.

An allocated claim binds the pod to the nodes from which its devices are reached. Claims that are not
allocated yet are allocated for each node in Filter; the chosen node's answer is kept by Reserve. Every
refusal is final for preemption: no victim frees a device.

Source: kube-scheduler 1.34.1 plugins/dynamicresources (dynamicresources.go, extendeddynamicresources.go).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple

import numpy as np

from ...models.config import PluginArgs
from .. import names
from ..domains import Bools
from ..dra.allocation import Allocation, Pick, write
from ..dra.claims import ClaimSpec
from ..dra.extended import IN_MEMORY, claim_for, mapped_resources, offered, requested
from ..dra.index import DeviceIndex, device_index
from ..dra.pod_claims import ClaimProblem, extended_claim
from ..dra.search import SearchError, SearchTimeout, allocate
from ..missing import Missing
from ..status import Code, Status
from .base import FilterPlugin, Verdicts

if TYPE_CHECKING:
    from ..cluster import Cluster
    from ..dra.state import ClaimState
    from ..state import State

REASON_ALLOCATE: Final = "cannot allocate all claims"
REASON_ELSEWHERE: Final = "resourceclaim not available on the node"
REASON_TIMEOUT: Final = "timed out trying to allocate devices"
REASON_IN_USE: Final = "resourceclaim in use"
REASON_STALE: Final = "cannot schedule extended resource claim"
NOTHING_HELPS: Final = "still not schedulable"
DEALLOCATED: Final = "deallocation of ResourceClaim completed"
DELETED: Final = "deletion of ResourceClaim completed"
NO_STATE: Final = "not found"
"""The error in which PostFilter ends where another plugin refused the pod before this one's PreFilter."""

MOST_CONSUMERS: Final = 256
"""Pods and pod groups for which a claim can be reserved."""

_NO_ROOM: Final = 1
_ELSEWHERE: Final = 2
_TIMEOUT: Final = 3
_ERROR: Final = 4


class _Answer(NamedTuple):
    """What the allocator says about one node: a verdict, the devices for 0, the text for an error."""

    verdict: int
    picks: tuple[tuple[Pick, ...], ...] = ()
    error: str = ""


@dataclass(slots=True, eq=False)
class _Pod:
    """What PreFilter knows.

    Attributes
    ----------
    free : tuple of str
        The claims that are to be allocated, in the pod's order.
    specs : tuple of ClaimSpec
        What they ask for.
    bound : list of (str, bool[N])
        The allocated claims, with the nodes from which their devices are reached.
    extended : tuple of str
        The resources that devices serve where a node does not offer them.
    stale : str
        The claim that an earlier attempt left for these; empty for none.
    """

    index: DeviceIndex
    pod: int
    free: tuple[str, ...]
    specs: tuple[ClaimSpec, ...]
    bound: list[tuple[str, Bools | None]]
    extended: tuple[str, ...]
    stale: str
    answers: dict[int, _Answer] = field(default_factory=dict)


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


class DynamicResources(FilterPlugin):
    """See the module's docstring."""

    name: ClassVar[str] = names.DYNAMIC_RESOURCES
    in_turn: ClassVar[bool] = True
    codes: ClassVar[tuple[Code, ...]] = (
        Code.SUCCESS,
        Code.UNRESOLVABLE,
        Code.UNRESOLVABLE,
        Code.UNRESOLVABLE,
        Code.ERROR,
    )

    def __init__(self, cluster: "Cluster", args: PluginArgs) -> None:
        super().__init__(cluster, args)
        self._index = device_index(cluster)
        if self._index is not None and any(self._index.needs_devices(i) for i in cluster.pending):
            _ = self._index.specs  # a selector that does not compile is told before anything is printed
        self._known: dict[tuple[int, ...], dict[int, tuple[tuple[int, ...], _Answer]]] = {}

    # -- before the queue and before the nodes --

    def pre_enqueue(self, i: int) -> Status | None:
        """Say why pod i cannot be tried yet; None where it can."""
        if self._index is not None:
            try:
                self._index.claims_of(i)
            except ClaimProblem as problem:
                return self._refuse(str(problem))
        return None

    def pre_filter(self, state: "State", i: int) -> _Pod | Status | None:
        """Look at the pod's claims; skips a pod without any."""
        index = self._index
        if index is None or state.claims is None or not index.needs_devices(i):
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
        specs = tuple(index.spec(key) for key in free)
        return _Pod(index, i, tuple(free), specs, bound, extended, self._stale(state.claims, i, extended))

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
        verdicts = np.zeros(self.cluster.n_nodes, dtype=np.uint8)
        for _, nodes in data.bound:
            if nodes is not None:
                verdicts[~nodes] = _ELSEWHERE
        if data.free or data.extended:
            for n in np.flatnonzero(passed).tolist():
                verdicts[n] = self._answer(data, state, n).verdict or verdicts[n]
        return verdicts

    def fork(self, data: _Pod, state: "State", i: int, n: int) -> _Fork:
        """Return the node."""
        return _Fork(data, state, n)

    def check(self, fork: _Fork) -> int:
        """Judge the node: that claims cannot be allocated is said before that others are out of reach."""
        answer = self._answer(fork.pod, fork.state, fork.node)
        if answer.verdict:
            return answer.verdict
        return _ELSEWHERE if self._unreachable(fork.pod, fork.node) else 0

    def reasons(self, fork: _Fork, verdict: int) -> tuple[str, ...]:
        """Say why."""
        if verdict == _ERROR:
            return (self._answer(fork.pod, fork.state, fork.node).error,)
        if verdict == _NO_ROOM and fork.pod.stale:
            return (REASON_STALE,)
        return ({_NO_ROOM: REASON_ALLOCATE, _ELSEWHERE: REASON_ELSEWHERE, _TIMEOUT: REASON_TIMEOUT}[verdict],)

    def missing(self, fork: _Fork, verdict: int, state: "State", i: int) -> tuple[Missing, ...]:
        """Name the claims."""
        if verdict == _ELSEWHERE:
            return tuple(
                Missing(key, f"the devices of claim {key} are not reached from here", facts={"claim": key})
                for key in self._unreachable(fork.pod, fork.node)
            )
        wanted = [*fork.pod.free, *fork.pod.extended] if verdict == _NO_ROOM and not fork.pod.stale else []
        text = f"no free devices here for all of {', '.join(wanted)}"
        return (Missing("devices", text, facts={"claims": wanted}),) if wanted else ()

    def _unreachable(self, data: _Pod, n: int) -> list[str]:
        """Return the allocated claims whose devices node n does not reach."""
        return [key for key, nodes in data.bound if nodes is not None and not nodes[n]]

    def _answer(self, data: _Pod, state: "State", n: int) -> _Answer:
        """Ask the allocator about node n, once for each cycle."""
        answer = data.answers.get(n)
        if answer is None:
            answer = data.answers[n] = self._ask(data, state, n)
        return answer

    def _ask(self, data: _Pod, state: "State", n: int) -> _Answer:
        if data.stale:
            return _Answer(_NO_ROOM)
        specs = (*data.specs, *self._extended_spec(data, n))
        if not specs:
            return _Answer(0)
        inventory = data.index.inventory
        if inventory.fault:
            return _Answer(_ERROR, error=inventory.fault)
        assert state.claims is not None
        view = inventory.view(n)
        # The same question was asked before, about another pod perhaps, and nothing in these pools has
        # changed since.
        stamps = tuple(state.claims.stamps.get(pool.number, 0) for pool in view.pools)
        known = self._known.setdefault(tuple(spec.number for spec in specs), {})
        found = known.get(n)
        if found is None or found[0] != stamps or found[1].error:
            found = known[n] = (stamps, self._search(data, state.claims, n, specs))
        return found[1]

    def _search(self, data: _Pod, claims: "ClaimState", n: int, specs: tuple[ClaimSpec, ...]) -> _Answer:
        inventory = data.index.inventory
        try:
            picks = allocate(inventory.view(n), specs, claims, inventory.counters)
        except SearchTimeout:
            return _Answer(_TIMEOUT)
        except SearchError as error:
            namespace = self.cluster.pods[data.pod].namespace
            keys = (*data.free, f"{namespace}/{IN_MEMORY}")
            return _Answer(_ERROR, error=error.refusal.message(keys[error.claim]))
        if picks is None:
            return _Answer(_NO_ROOM)
        return _Answer(0, tuple(tuple(of_claim) for of_claim in picks))

    def _extended_spec(self, data: _Pod, n: int) -> tuple[ClaimSpec, ...]:
        """Return a claim for the pod's extended resources that node n does not offer itself."""
        missing = {r: c for r, c in mapped_resources(self.cluster).items() if r in data.extended}
        missing = {r: c for r, c in missing.items() if not offered(self.cluster, r)[n]}
        if not missing:
            return ()
        return (data.index.specs.of(claim_for(self.cluster.pods[data.pod].pod, missing)),)

    # -- afterwards --

    def reserve(self, data: _Pod, state: "State", i: int, n: int) -> dict[str, Allocation]:
        """Return the allocations that pod i brings along to node n, by claim."""
        answer = self._answer(data, state, n)
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
