"""Claims in the exhaustive search: equal pods, claims that may be deallocated, equal situations.

A claim is a pod's own where no other pod names it and it is neither allocated nor reserved in the input. Pods
that differ only in claims of their own that ask for the same are one class, and in which of them which
devices are does not matter.
"""

from kubestow.framework.dra.index import device_index
from kubestow.framework.dra.pod_claims import ClaimProblem
from kubestow.framework.index.signature import signature
from kubestow.framework.volumes.signature import VolumeSignatures


class Devices:
    """The claims of a round."""

    def __init__(self, cluster, state):
        self.cluster = cluster
        self.index = device_index(cluster) if state.claims is not None else None
        self.own = {} if self.index is None else self._own(state)
        numbers = {}
        self._kind = {i: numbers.setdefault(self._look(i), len(numbers)) for i in cluster.pending}

    def _own(self, state):
        users = {}
        for info in self.cluster.pods:
            for entry in info.pod.spec.resource_claims:
                users.setdefault(f"{info.namespace}/{entry.resource_claim_name}", []).append(info.index)
        own = {}
        for i in self.cluster.pending:
            try:
                keys = [(claim.key, claim.group) for claim in self.index.claims_of(i)]
            except ClaimProblem:
                continue
            alone = all(
                users.get(key) == [i]
                and not group
                and key not in state.claims.allocations
                and not state.claims.reserved.get(key)
                for key, group in keys
            )
            if keys and alone and len(keys) == len(self.cluster.pods[i].pod.spec.resource_claims):
                own[i] = [key for key, _ in keys]
        return own

    def likeness(self, i):
        """Return a number that is equal for pods of the queue which nothing can tell apart."""
        return self._kind[i]

    def _look(self, i):
        info = self.cluster.pods[i]
        if i not in self.own:
            return info.cls
        asked = tuple(self.index.claims[key].spec.model_dump_json() for key in self.own[i])
        return info.unit, signature(info, VolumeSignatures(self.cluster).of(i), asked)

    def idle(self, state):
        """Return the allocated claims that are not reserved, or only for one pod that waits."""
        if self.index is None:
            return []
        found = []
        for key in state.claims.allocations:
            consumers = state.claims.reserved.get(key, frozenset())
            if not self._freed(key):
                continue
            if len(consumers) <= 1 and all(
                c in self.cluster.pending and state.node_of[c] < 0 for c in consumers
            ):
                found.append(key)
        return found

    def _freed(self, key):
        """Whether PostFilter runs for a pod that names the claim; for any pod where none does."""
        cluster = self.cluster
        frees = {
            name: all("DynamicResources" in p.points[at] for at in ("pre_filter", "filter", "post_filter"))
            for name, p in cluster.profiles.items()
        }
        naming = [i for i in cluster.pending if key in self._named(i)]
        return any(frees[cluster.pods[i].scheduler] for i in naming) if naming else any(frees.values())

    def _named(self, i):
        try:
            return {claim.key for claim in self.index.claims_of(i)}
        except ClaimProblem:
            return set()

    def held(self, state):
        """Return which claims have which devices, and for which pods they are reserved."""
        if self.index is None:
            return ()
        return tuple(sorted((k, _anonymous(a)) for k, a in state.claims.allocations.items()))

    def key(self, state, placed, brought):
        """Return what is bound, the same for situations that differ only in claims that are alike."""
        volumes = () if state.volumes is None else state.volumes.bindings()
        if self.index is None:
            return volumes
        mine = {key for keys in self.own.values() for key in keys}
        mine |= {f"{self.cluster.pods[i].key}-extended-resources" for i in placed}
        rest = tuple(sorted((k, _anonymous(a)) for k, a in state.claims.allocations.items() if k not in mine))
        reserved = tuple(
            sorted((k, tuple(sorted(map(str, c)))) for k, c in state.claims.reserved.items() if k not in mine)
        )
        alike = []
        for i, n in placed.items():
            keys = [*self.own.get(i, ()), f"{self.cluster.pods[i].key}-extended-resources"]
            had = tuple(_anonymous(brought[key]) for key in keys if key in brought)
            if had:
                alike.append((self._kind[i], n, had))
        return volumes, rest, reserved, tuple(sorted(alike))


def _anonymous(allocation):
    return tuple((r.request, r.id, r.admin, bool(r.share), r.taken) for r in allocation.results)
