"""Rows about devices: which claim has which, for a pod on which node, and what is enough for all of them.

Devices are read as served (`framework.dra.checker_view`), and the rows say what the checker of allocations
says (`framework.dra.checker`): the allocator plays no part. What an allocation of the input holds is held
until the claim is given back.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ....framework.dra.capacity import capacities
from ....framework.dra.checker_view import Reach, ServedDevices
from ....framework.dra.extended import claim_for, requested, served_resources
from ....framework.dra.index import device_index
from ....framework.dra.pod_claims import ClaimProblem, extended_claim
from .claim import Claim

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from ortools.sat.python import cp_model

    from ....framework.dra.allocation import Result
    from ....framework.dra.checker_view import Id, Served
    from ....framework.dra.index import DeviceIndex
    from ....framework.dra.state import ClaimState
    from ....models import resource_api as api
    from .model import Booleans, Linear

    Counter: TypeAlias = tuple[str, ...]
    Draws: TypeAlias = list[tuple[Fraction, Id]]


def add_devices(made: Booleans) -> list[Claim]:
    """Add the rows; return the claims of the pods that wait, each with its Booleans."""
    index, claims = device_index(made.cluster), made.start.claims
    if index is None or claims is None:
        return []
    return _Devices(made, index, claims).add()


class _Devices:
    """The rows of a round."""

    def __init__(self, made: Booleans, index: DeviceIndex, claims: ClaimState) -> None:
        snapshot = made.cluster.snapshot
        self._made, self._index, self._claims = made, index, claims
        self._devices = ServedDevices(snapshot)
        self._reach = Reach({node.name: node for node in snapshot.nodes})
        self._freed = {key: self._freed_of(key) for key in claims.allocations}
        self._served: dict[Id, Served] = {}
        for node in snapshot.nodes:
            self._served.update(self._devices.reached(node))

    def add(self) -> list[Claim]:
        found = [*self._claims_of_pods(), *self._extended()]
        for id_, served in self._served.items():
            having = [(claim, name) for claim in found for name in claim.takers(id_)]
            if self._devices.shared(served.device):
                self._shares(served, having)
            else:
                self._alone(id_, having)
        if self._devices.partitions:
            self._counters(found)
        return found

    # -- claims --

    def _freed_of(self, key: str) -> Linear:
        """Return whether the allocation that a claim has in the input is given back."""
        made, consumers = self._made, self._claims.reserved.get(key, frozenset())
        waiting = frozenset(made.cluster.pending)
        victims = [v for v in consumers if isinstance(v, int) and v in made.gone]
        if any(c not in waiting and c not in made.gone for c in consumers):
            return 0
        if not victims and not self._claims.idle(key):
            return 0
        freed = made.model.new_bool_var(f"{key} is given back")
        for v in victims:
            made.model.add(freed <= made.gone[v])
        return freed

    def _claims_of_pods(self) -> Iterator[Claim]:
        made, index = self._made, self._index
        users: dict[str, list[int]] = {}
        for i in made.cluster.pending:
            if not index.needs_devices(i):
                continue
            try:
                for named in index.claims_of(i):
                    users.setdefault(named.key, []).append(i)
            except ClaimProblem:
                made.model.add(made.placed([i]) == 0)
        for key, pods in users.items():
            freed = self._freed.get(key, 1)
            claim = Claim(made, self._devices, key, index.claims[key].spec.devices, pods)
            made.model.add(sum(claim.home.values()) <= (0 if self._is_refused(key) else freed))
            reached = self._reached_as_allocated(key)
            for i in pods:
                for n in made.nodes_of(i):
                    kept = 1 - freed if n in reached else 0
                    made.model.add(made.at[i, n] <= sum(claim.home.values()) + kept)
            if len(pods) > 1:
                self._reached_by_all(claim, pods)
            yield claim

    def _is_refused(self, key: str) -> bool:
        """Whether a claim asks for what is refused unseen: a class that is not there, a gate that is off."""
        spec = self._index.spec(key)
        wants = (want for request in spec.requests for want in request.wants)
        return spec.constraint_fault is not None or any(
            want.fault is not None or want.selection is None for want in wants
        )

    def _reached_as_allocated(self, key: str) -> frozenset[int]:
        """Return the nodes that reach what a claim has in the input."""
        allocation = self._claims.allocations.get(key)
        if allocation is None:
            return frozenset()
        reach = self._index.reach(allocation)
        return frozenset(n for n in range(self._made.cluster.n_nodes) if reach is None or reach[n])

    def _reached_by_all(self, claim: Claim, pods: list[int]) -> None:
        """Let every pod of a claim be where its devices are reached."""
        made = self._made
        nodes = {n for i in pods for n in made.nodes_of(i)}
        for (_, id_), times in claim.has.items():
            reaching = self._reach.serving(self._served[id_])
            for n in nodes:
                if made.cluster.node_names[n] not in reaching:
                    for i in pods:
                        if (i, n) in made.at:
                            made.model.add(times == 0).only_enforce_if(made.at[i, n])

    def _extended(self) -> Iterator[Claim]:
        """Yield the claims that are made up for extended resources, one for each set that devices serve."""
        made, cluster = self._made, self._made.cluster
        for i in cluster.pending:
            info = cluster.pods[i]
            if not requested(cluster, i) or not self._index.needs_devices(i):
                continue
            if extended_claim(info.pod, self._index.claims) is not None:
                continue  # what an earlier attempt left is no row
            served: dict[tuple[tuple[str, str], ...], list[int]] = {}
            for n in made.nodes_of(i):
                resources = tuple(sorted(served_resources(cluster, i, n).items()))
                served.setdefault(resources, []).append(n)
            for resources, nodes in served.items():
                if resources:
                    key, asked = f"{info.key}-extended-resources", claim_for(info.pod, dict(resources))
                    claim = Claim(made, self._devices, key, asked, [i], nodes)
                    for n in nodes:
                        made.model.add(made.at[i, n] == claim.home[n])
                    yield claim

    # -- devices --

    def _holders(self, id_: Id, *, shares: bool) -> Iterator[tuple[str, Result]]:
        """Yield what holds a device in the input: alone, or shares of it."""
        for key, allocation in self._claims.allocations.items():
            for result in allocation.results:
                share = bool(result.share) and self._devices.sharing
                if tuple(result.id) == id_ and not result.admin and share == shares:
                    yield key, result

    def _alone(self, id_: Id, having: list[tuple[Claim, str]]) -> None:
        """Give a device to one claim at most."""
        model = self._made.model
        for claim in {id(claim): claim for claim, _ in having}.values():
            model.add(sum(claim.has[name, id_] for name in claim.takers(id_)) <= 1)
        taking = [claim.has[name, id_] for claim, name in having if not claim.choices[name].admin]
        if taking:
            model.add_at_most_one(taking)
            for key, _ in self._holders(id_, shares=False):
                model.add(sum(taking) <= self._freed[key])

    def _shares(self, served: Served, having: list[tuple[Claim, str]]) -> None:
        """Hold the shares of a device to its capacities."""
        made, id_ = self._made, served.id
        taking = [
            (claim.has[name, id_], claim.choices[name])
            for claim, name in having
            if not claim.choices[name].admin
        ]
        for key, _ in self._holders(id_, shares=False):
            for times, choice in taking:
                made.model.add(times <= choice.most * self._freed[key])
        held = list(self._holders(id_, shares=True))
        for name, capacity in capacities(served.device, served.driver).items():
            taken = [(dict(result.taken).get(name), key) for key, result in held]
            kept = [(amount, 1 - self._freed[key]) for amount, key in taken if amount]
            terms: list[tuple[Fraction | int, Linear]] = [*kept]
            terms += [(choice.amounts[id_][name], times) for times, choice in taking]
            if len(terms) > len(kept):
                made.at_most(terms, max(capacity.value, sum(amount for amount, _ in kept)))

    def _counters(self, claims: list[Claim]) -> None:
        """Hold devices to the counters that they draw on: all that are in use, each once.

        Admin access draws on them beside what the claims of the input hold.
        """
        made, model = self._made, self._made.model
        have, drawn = _counters_of(self._devices.slices)
        ids = {id_ for devices in drawn.values() for _, id_ in devices}
        used = {id_: model.new_bool_var(f"{'/'.join(id_)} is used") for id_ in ids}
        kept: dict[Id, cp_model.IntVar] = {}
        for id_ in ids:
            for key, _ in (*self._holders(id_, shares=False), *self._holders(id_, shares=True)):
                if id_ not in kept:
                    kept[id_] = model.new_bool_var(f"{'/'.join(id_)} is kept")
                model.add(kept[id_] >= 1 - self._freed[key])
                model.add(kept[id_] <= used[id_])
            for claim in claims:
                for name in claim.takers(id_):
                    choice = claim.choices[name]
                    if not choice.admin:
                        model.add(claim.has[name, id_] <= choice.most * used[id_])
        looking = [claim for claim in claims if any(choice.admin for choice in claim.choices.values())]
        for counter, devices in drawn.items():
            most = have.get(counter, Fraction(0))
            before = [(amount, kept[id_]) for amount, id_ in devices if id_ in kept]
            most = max(most, sum((amount for amount, _ in before), Fraction(0)))
            made.at_most([(amount, used[id_]) for amount, id_ in devices], most)
            for claim in looking:
                own = [
                    (amount, claim.has[name, id_])
                    for amount, id_ in devices
                    for name in claim.takers(id_)
                    if not self._devices.shared(self._served[id_].device)
                ]
                made.at_most([*before, *own], most)


def _counters_of(slices: Iterable[api.ResourceSlice]) -> tuple[dict[Counter, Fraction], dict[Counter, Draws]]:
    """Return what each counter has, and the devices that draw on it, with the amount."""
    have: dict[Counter, Fraction] = {}
    drawn: dict[Counter, Draws] = {}
    for item in slices:
        spec = item.spec
        pool = (spec.driver, spec.pool.name, str(spec.pool.generation))
        home = (*pool, item.name) if spec.devices else pool
        for counter_set in spec.shared_counters:
            for name, value in counter_set.counters.items():
                have[*home, counter_set.name, name] = value.value
        home = (*pool, item.name) if spec.shared_counters else pool
        for device in spec.devices:
            for taken in device.consumes_counters:
                for name, value in taken.counters.items():
                    id_ = (spec.driver, spec.pool.name, device.name)
                    drawn.setdefault((*home, taken.counter_set, name), []).append((value.value, id_))
    return have, drawn
