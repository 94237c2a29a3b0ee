"""Every allocation that the claims of a pod could get on a node, by any allocator.

What a device may serve is read from the objects as served, what is allocated from the framework's state, and
an allocation counts where `framework.dra.checker` finds no fault in it: nothing here knows the allocator, or
an encoder. Of devices that nothing tells apart (one slice, equal content and taints) the first free ones are
taken, in order.
"""

from itertools import combinations_with_replacement, product

from kubestow.framework.dra import checker_sums
from kubestow.framework.dra.allocation import reread
from kubestow.framework.dra.capacity import capacities, taken
from kubestow.framework.dra.checker import Checker, NewAllocation
from kubestow.framework.dra.extended import claim_for, mapped_resources, offered, requested
from kubestow.framework.dra.index import device_index
from kubestow.models.quantity import format_quantity


class Allotments:
    """The allocations of a cluster's claims."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.index = device_index(cluster)
        self._checker = Checker(cluster.snapshot)
        self._served = self._checker.devices
        self._known = {}
        self._taken = {}
        if self.index is not None:
            _ = self.index.specs  # puts taints on the devices
            devices = self.index.inventory.devices
            self._device = {}
            for device in sorted(devices, key=lambda d: d.slice.generation):
                self._device[device.id] = device
            self._like = {d.id: self._look(d) for d in devices}

    def of(self, state, pod, node):
        """Return the ways in which the claims of a pod that have no devices yet can get them on a node.

        Each is a mapping of claim to allocation; only one, which is empty, for a pod that needs none.
        """
        if self.index is None or state.claims is None or not self.index.needs_devices(pod):
            return [{}]
        wanted = {
            c.key: self.index.claims[c.key].spec.devices
            for c in self.index.claims_of(pod)
            if c.key not in state.claims.allocations
        }
        resources = {
            name: mapped_resources(self.cluster)[name]
            for name in requested(self.cluster, pod)
            if not offered(self.cluster, name)[node]
        }
        if resources:
            info = self.cluster.pods[pod]
            wanted[f"{info.key}-extended-resources"] = claim_for(info.pod, resources)
        options = [self._of_claim(state, key, claim, node) for key, claim in wanted.items()]
        found = (dict(zip(wanted, chosen, strict=True)) for chosen in product(*options))
        return [brought for brought in found if self._holds(state, brought)]

    # -- one claim --

    def _of_claim(self, state, key, claim, node):
        """Return what one claim could have by itself, of devices that no other claim has."""
        found = []
        for results in self._static(state, claim, node):
            documents = [self._document(k, *result) for k, result in enumerate(results)]
            allocation = reread(documents, self._device.__getitem__, self.cluster.node_names[node])
            if not self._taken_by_others(state, allocation):
                found.append(allocation)
        return [self._renamed(key, allocation) for allocation in found]

    def _static(self, state, claim, node):
        """Return what selectors, taints and constraints allow: lists of (request, want, device id)."""
        key = (claim.model_dump_json(), node, self._shares_now(state, claim))
        if key not in self._known:
            choices = [self._of_request(state, request, node) for request in claim.requests]
            lists = [sum(chosen, ()) for chosen in product(*choices)]
            self._known[key] = [results for results in lists if self._sound(claim, results, node)]
        return self._known[key]

    def _of_request(self, state, request, node):
        wants = [(request.name, request.exactly)] if request.exactly is not None else []
        wants += [(f"{request.name}/{item.name}", item) for item in request.first_available]
        for name, want in wants:
            may = [
                id_
                for id_, served in self._served.reached(self._node(node)).items()
                if self._served.matches(want, served) and checker_sums.can_give(want, served)
            ]
            if want.allocation_mode == "All":
                may = [id_ for id_ in may if not self._shared(id_) or self._room(state, want, id_)]
                yield tuple((name, want, id_) for id_ in may)
            else:
                for chosen in combinations_with_replacement(may, want.count):
                    if all(chosen.count(id_) == 1 or self._shared(id_) for id_ in chosen):
                        yield tuple((name, want, id_) for id_ in chosen)

    def _sound(self, claim, results, node):
        """Whether the checker finds no fault, with nothing else allocated; and devices come in order."""
        if not results:
            return False
        if any(self._amounts(want, id_) is None for _, want, id_ in results):
            return False
        documents = [self._document(k, *result) for k, result in enumerate(results)]
        name = self.cluster.node_names[node]
        allocation = reread(documents, self._device.__getitem__, name)
        new = NewAllocation("x/y", claim, allocation, name)
        return not any(True for _ in self._checker.faults([new]))

    def _document(self, k, request, want, id_):
        written = {"request": request, "driver": id_[0], "pool": id_[1], "device": id_[2]}
        if getattr(want, "admin_access", False):
            written["adminAccess"] = True
        if self._shared(id_):
            written["shareID"] = str(k)
            amounts = self._amounts(want, id_)
            written["consumedCapacity"] = {n: format_quantity(amount) for n, amount in amounts.items()}
        return written

    def _renamed(self, key, allocation):
        """Name shares by ids of the claim."""
        results = tuple(
            type(r)(r.request, r.id, r.admin, f"{key} {r.share}" if r.share else "", r.taken)
            for r in allocation.results
        )
        return type(allocation)(results, allocation.selector)

    def _amounts(self, want, id_):
        asked = want.capacity.requests if want.capacity is not None else {}
        key = id_, tuple(asked.items())
        if key not in self._taken:
            self._taken[key] = taken(self._device[id_].spec, id_[0], asked)
        return self._taken[key]

    # -- what others have --

    def _shared(self, id_):
        return self._served.shared(self._device[id_].spec)

    def _room(self, state, want, id_):
        """Whether a shared device has enough left."""
        amounts = self._amounts(want, id_)
        if amounts is None:
            return False
        used = state.claims.consumed(self._device[id_].identity)
        have = capacities(self._device[id_].spec, id_[0])
        return all(used.get(name, 0) + amount <= have[name].value for name, amount in amounts.items())

    def _shares_now(self, state, claim):
        """Tell states apart in which requests for all devices would count different shared ones."""
        wants = [want for r in claim.requests for want in (r.exactly, *r.first_available) if want]
        if not any(want.allocation_mode == "All" for want in wants):
            return ()
        shared = [device.identity for id_, device in self._device.items() if self._shared(id_)]
        return tuple(tuple(state.claims.consumed(identity).items()) for identity in shared)

    def _taken_by_others(self, state, allocation):
        return any(
            not result.admin and state.claims.in_use(self._device[result.id].identity)
            for result in allocation.results
        )

    def _holds(self, state, brought):
        """Whether all claims together can have their devices now, and like devices come in order."""
        if not brought:
            return True
        held = state.claims.allocations
        if any(True for _ in checker_sums.faults(self._served, {**held, **brought}, list(brought))):
            return False
        return self._in_one_step(state, brought) and self._in_order(state, brought)

    def _in_one_step(self, state, brought):
        """Whether a pod's claims are compatible with each other, with `adminAccess` counted as any other.

        What `adminAccess` gets is not taken from other claims, but it has to be there; and what it was given
        is not given to a later claim of the pod.
        """
        seen, shares, partitions = set(), {}, []
        for allocation in brought.values():
            for result in allocation.results:
                device = self._device[result.id]
                if not self._shared(result.id):
                    if result.id in seen and not result.admin:
                        return False
                    seen.add(result.id)
                else:
                    for name, amount in result.taken:
                        shares.setdefault((result.id, name), []).append(amount)
                if device.identity not in partitions or not self._shared(result.id):
                    partitions.append(device.identity)
        for (id_, name), amounts in shares.items():
            used = state.claims.consumed(self._device[id_].identity).get(name, 0)
            if used + sum(amounts) > capacities(self._device[id_].spec, id_[0])[name].value:
                return False
        counters = self.index.inventory.counters
        for value, takers in zip(counters.values, counters.takers, strict=True):
            held = {i for i in takers if state.claims.held(i)}
            # a device that is held and given to `adminAccess` as well counts twice, unless it is shared
            shared = {d.identity for id_, d in self._device.items() if self._shared(id_)}
            now = [takers[i] for i in partitions if i in takers and not (i in held and i in shared)]
            if now and sum(takers[i] for i in held) + sum(now) > value:
                return False
        return True

    def _in_order(self, state, brought):
        """Whether of like devices the first free ones are taken, each in its turn."""
        free = {}
        for id_, like in self._like.items():
            if not self._shared(id_) and not state.claims.in_use(self._device[id_].identity):
                free.setdefault(like, []).append(id_)
        for allocation in brought.values():
            for result in allocation.results:
                if result.admin or self._shared(result.id):
                    continue
                if free[self._like[result.id]].pop(0) != result.id:
                    return False
        return True

    def _look(self, device):
        """Return what could tell a device from others of its slice."""
        spec = device.spec.model_copy(update={"name": ""})
        taints = tuple((t.key, t.value, t.effect) for t in device.taints)
        return device.slice.number, spec.model_dump_json(), taints

    def _node(self, n):
        return self.cluster.nodes[n]
