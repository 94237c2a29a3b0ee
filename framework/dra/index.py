"""Everything about devices and claims in a cluster, made once.

Selectors are compiled when a pod needs devices; a cluster whose claims only belong to running pods never gets
there.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...models import resource_api as api
from ...models.errors import InputError
from ...models.meta import KubeObject
from ...models.validation.reading import respell
from ..index.node_selection import selector_mask
from ..vocabulary.arrays import Bools
from .allocation import Allocation, read
from .binding_conditions import has_failed
from .cel.program import CompileError
from .claims import ClaimSpec, ClaimSpecs
from .extended import requested
from .inventory import Inventory
from .pod_claims import ClaimProblem, PodClaim, PodClaims
from .selection import Selections, programs
from .taints import put_taints

if TYPE_CHECKING:
    from ..index.cluster import Cluster
    from ..vocabulary.profile import Profile


Consumer = int | str
"""Who a claim is reserved for: a pod of the cluster by number, anyone else by name."""


class DeviceIndex:
    """See the module's docstring.

    Attributes
    ----------
    cluster : Cluster
    claims : dict
        ResourceClaims by key.
    classes : dict
        DeviceClasses by name.
    shares : bool
        Whether devices may be shared by capacity (gate).
    grouped : bool
        Whether pod groups have claims (gates).
    """

    def __init__(self, cluster: "Cluster") -> None:
        snapshot, gates = cluster.snapshot, cluster.gates
        self.cluster = cluster
        self.claims = {claim.key: claim for claim in snapshot.resource_claims}
        self.classes = {item.name: item for item in snapshot.device_classes}
        self.shares = gates.enabled("DRAConsumableCapacity")
        self.grouped = gates.enabled("DRAWorkloadResourceClaims") and gates.enabled("GenericWorkload")
        groups = {group.key: group for group in snapshot.pod_groups} if self.grouped else {}
        self._pod_claims = PodClaims(self.claims, groups)
        self._of_pod: dict[int, tuple[PodClaim, ...] | ClaimProblem] = {}
        self._specs_of: dict[str, ClaimSpec] = {}

    @cached_property
    def given(self) -> dict[str, Allocation]:
        """The allocations of the input by claim, the same objects in every state."""
        binding, now = self.cluster.gates.enabled("DRADeviceBindingConditions"), self.cluster.snapshot.now
        return {
            key: read(claim.status.allocation, failed=binding and has_failed(claim, now))
            for key, claim in self.claims.items()
            if claim.status.allocation is not None
        }

    @cached_property
    def queued(self) -> frozenset[int]:
        """The pods of the active queue, those of other parts of the round among them."""
        elsewhere = frozenset((*self.cluster.gated, *self.cluster.untried, *self.cluster.bound))
        pods = self.cluster.pods
        return frozenset(i.index for i in pods if i.index not in elsewhere and not i.terminating)

    @cached_property
    def inventory(self) -> Inventory:
        """The devices."""
        return Inventory(self.cluster)

    @cached_property
    def selections(self) -> Selections:
        """The selectors; every one of the input is compiled.

        Raises
        ------
        InputError
            For one that does not compile.
        """
        selections = Selections(self.classes)
        for item, path, selectors in self._selectors():
            for k, selector in enumerate(selectors):
                try:
                    programs([selector])
                except CompileError as wrong:
                    where = f"{path}.selectors[{k}].cel.expression"
                    name, text = f"{item.kind} {item.key}", f"does not compile: {wrong}"
                    field = respell(item, where)
                    raise InputError(self.cluster.snapshot.name, name, field, text) from None
        if self.cluster.gates.enabled("DRADeviceTaints"):
            put_taints(self.inventory.devices, self.cluster.snapshot.device_taint_rules, selections)
        return selections

    def _selectors(self) -> Iterator[tuple[KubeObject, str, Sequence[api.DeviceSelector]]]:
        snapshot = self.cluster.snapshot
        for item in snapshot.device_classes:
            yield item, "spec", item.spec.selectors
        for claim in snapshot.resource_claims:
            yield from (
                (claim, *found) for found in _in_requests(claim.spec.devices.requests, "spec.devices")
            )
        for template in snapshot.resource_claim_templates:
            requests = template.spec.spec.devices.requests
            yield from ((template, *found) for found in _in_requests(requests, "spec.spec.devices"))
        for rule in snapshot.device_taint_rules:
            if rule.spec.device_selector is not None:
                yield rule, "spec.deviceSelector", rule.spec.device_selector.selectors

    @cached_property
    def specs(self) -> ClaimSpecs:
        """What claims ask for."""
        return ClaimSpecs(self.cluster.gates, self.selections)

    def spec(self, key: str) -> ClaimSpec:
        """Return what a claim of the input asks for."""
        found = self._specs_of.get(key)
        if found is None:
            found = self._specs_of[key] = self.specs.of(self.claims[key].spec.devices)
        return found

    def claims_of(self, i: int) -> tuple[PodClaim, ...]:
        """Return the claims of pod i.

        Raises
        ------
        ClaimProblem
            Why the pod has to wait for them.
        """
        found = self._of_pod.get(i)
        if found is None:
            try:
                found = self._pod_claims.of(self.cluster.pods[i].pod)
            except ClaimProblem as problem:
                found = problem
            self._of_pod[i] = found
        if isinstance(found, ClaimProblem):
            raise found
        return found

    def asks(self, i: int) -> bool:
        """Whether pod i has claims, or requests what devices may serve."""
        return bool(self.cluster.pods[i].pod.spec.resource_claims or requested(self.cluster, i))

    def needs_devices(self, i: int) -> bool:
        """Whether devices have a say in where pod i can go: it asks, and its profile's filter looks."""
        profile = self._profile(i)
        return self.asks(i) and (profile is None or profile.looks_at_devices)

    def follows(self, i: int) -> bool:
        """Whether pod i can only be bound while its claims have devices, without asking for any."""
        profile = self._profile(i)
        has_claims = bool(self.cluster.pods[i].pod.spec.resource_claims)
        return has_claims and profile is not None and profile.follows_claims

    def _profile(self, i: int) -> "Profile | None":
        """Return the profile of pod i; None where no scheduler here is responsible for it."""
        return self.cluster.profiles.get(self.cluster.pods[i].scheduler)

    @cached_property
    def sought(self) -> frozenset[str]:
        """The claims for which a pod of the queue may have devices chosen."""
        found: set[str] = set()
        for i in self.queued:
            if self.needs_devices(i):
                with suppress(ClaimProblem):
                    found.update(claim.key for claim in self.claims_of(i))
        return frozenset(found)

    @cached_property
    def held_fast(self) -> frozenset[str]:
        """The claims that no PostFilter would free: none runs for a pod of the queue that names the claim.

        For a claim that no such pod names it is enough that some profile frees claims.
        """
        freed: dict[str, bool] = {}
        for i in self.queued:
            profile = self._profile(i)
            frees = profile is not None and profile.frees_claims
            with suppress(ClaimProblem):
                for claim in self.claims_of(i):
                    freed[claim.key] = freed.get(claim.key, False) or frees
        some = any(profile.frees_claims for profile in self.cluster.profiles.values())
        return frozenset(key for key in self.claims if not freed.get(key, some))

    def consumer(self, namespace: str, reference: api.ResourceClaimConsumerReference) -> Consumer:
        """Return who a reservation is for: a pod of the cluster by number, anyone else by name."""
        if reference.resource == "pods":
            i = self.cluster.pod_index.get(f"{namespace}/{reference.name}", -1)
            if i >= 0:
                uid = self.cluster.pods[i].pod.metadata.uid
                if not uid or not reference.uid or uid == reference.uid:
                    return i
        return _consumer_name(namespace, reference)

    def is_vacant(self, claim: api.ResourceClaim) -> bool:
        """Whether a claim is reserved for a pod group alone of which no pod is on a node.

        PostFilter takes it back as it does a claim that is reserved for nobody.
        """
        consumers = claim.status.reserved_for
        if not self.grouped or len(consumers) != 1 or consumers[0].resource != "podgroups":
            return False
        return f"{claim.namespace}/{consumers[0].name}" not in self._standing_groups

    @cached_property
    def _standing_groups(self) -> frozenset[str]:
        """The pod groups of which a pod is on a node in the input."""
        pods = (self.cluster.pods[i].pod for i in self.cluster.bound)
        return frozenset(
            f"{pod.namespace}/{pod.spec.scheduling_group.pod_group_name}"
            for pod in pods
            if pod.spec.scheduling_group is not None
        )

    def consumers_of(self, i: int, allocated: Iterable[str]) -> list[tuple[str, Consumer]]:
        """Return what pod i reserves when it is placed: its claims, and those that were allocated with it.

        A pod group's claim is reserved for the group.  A profile without PreBind reserves nothing.
        """
        profile = self._profile(i)
        own: tuple[PodClaim, ...] = ()
        with suppress(ClaimProblem):
            own = self.claims_of(i) if profile is None or profile.reserves_claims else ()
        namespace = self.cluster.pods[i].namespace
        found: dict[str, Consumer] = dict.fromkeys(allocated, i)
        for claim in own:
            found[claim.key] = i
            if claim.group:
                name = claim.group.partition("/")[2]
                reference = api.ResourceClaimConsumerReference(resource="podgroups", name=name)
                found[claim.key] = _consumer_name(namespace, reference)
        return list(found.items())

    def reach(self, allocation: Allocation) -> Bools | None:
        """Say from which nodes an allocation's devices are reached; bool[N], None for all."""
        if allocation.failed:
            return np.zeros(self.cluster.n_nodes, dtype=np.bool_)
        if allocation.selector is None:
            return None
        return selector_mask(self.cluster, allocation.selector.compiled)


def _consumer_name(namespace: str, reference: api.ResourceClaimConsumerReference) -> str:
    """Name a consumer that is no pod of the cluster."""
    uid = reference.uid if reference.resource == "pods" else ""
    return f"{reference.resource} {namespace}/{reference.name} {uid}".rstrip()


def _in_requests(
    requests: Sequence[api.DeviceRequest], path: str
) -> Iterator[tuple[str, Sequence[api.DeviceSelector]]]:
    for r, request in enumerate(requests):
        where = f"{path}.requests[{r}]"
        if request.exactly is not None:
            yield f"{where}.exactly", request.exactly.selectors
        for k, alternative in enumerate(request.first_available):
            yield f"{where}.firstAvailable[{k}]", alternative.selectors


def device_index(cluster: "Cluster") -> DeviceIndex | None:
    """Return the index of a cluster; None where nothing in it has to do with devices, or the gate is off."""

    def make() -> DeviceIndex | None:
        snapshot = cluster.snapshot
        if not cluster.gates.enabled("DynamicResourceAllocation"):
            return None
        claiming = any(info.pod.spec.resource_claims for info in cluster.pods)
        return (
            DeviceIndex(cluster) if claiming or snapshot.resource_claims or snapshot.device_classes else None
        )

    return cluster.memo("device index", make)


def claim_keys(cluster: "Cluster") -> tuple[str, ...]:
    """Return the keys of the cluster's ResourceClaims in input order: steps name claims by their place."""
    return cluster.memo("claim keys", lambda: tuple(c.key for c in cluster.snapshot.resource_claims))
