"""What trees of groups ask for, read from the objects alone: their part of `group_valuation`.

Nothing here knows the framework's trees: a node is a CompositePodGroup or a PodGroup, its parent is the one
that it names.
"""

from collections import defaultdict


class Trees:
    """The trees of a snapshot; empty where its release serves none."""

    def __init__(self, snapshot):
        served = str(snapshot.kube_version) == "1.37" and not snapshot.feature_gates.off & {
            "CompositePodGroup",
            "GangScheduling",
            "GenericWorkload",
        }
        self.inner = {item.key: item for item in snapshot.composite_pod_groups} if served else {}
        self.leaves = {item.key: item for item in snapshot.pod_groups}
        self.below = defaultdict(list)
        for kind, items in (("inner", self.inner), ("leaves", self.leaves)):
            for key, item in items.items():
                self.below[self._parent(item)].append((kind, key))
        self.topology = "TopologyAwareWorkloadScheduling" not in snapshot.feature_gates.off

    def _parent(self, item):
        name = item.spec.parent_composite_pod_group_name
        return f"{item.namespace}/{name}" if name else ""

    def path(self, leaf):
        """The nodes above a PodGroup, the root last."""
        found = []
        key = self._parent(self.leaves[leaf]) if leaf in self.leaves else ""
        while key in self.inner and key not in found:
            found.append(key)
            key = self._parent(self.inner[key])
        return found

    def is_broken(self, where, gaining, label):
        """Whether a node that gains a member is short of children, or in two domains.

        Parameters
        ----------
        where : dict
            PodGroup -> nodes of the members that stand.
        gaining : set
            PodGroups with new members.
        label : callable
            From a node and a key.
        """
        for key in {above for leaf in gaining for above in self.path(leaf)}:
            if not self._stands("inner", key, where):
                return True
            nodes = [n for leaf in self._leaves_below(key) for n in where.get(leaf, ())]
            for item in self.inner[key].spec.scheduling_constraints.topology if self.topology else ():
                domains = {label(n, item.key) for n in nodes}
                if len(domains) > 1 or None in domains:
                    return True
        return False

    def _stands(self, kind, key, where):
        if kind == "leaves":
            gang = self.leaves[key].spec.scheduling_policy.gang
            return len(where.get(key, ())) >= (gang.min_count if gang else 1)
        gang = self.inner[key].spec.scheduling_policy.gang
        standing = sum(self._stands(*child, where) for child in self.below[key])
        return standing >= (gang.min_group_count if gang else 1)

    def _leaves_below(self, key):
        for kind, child in self.below[key]:
            if kind == "leaves":
                yield child
            else:
                yield from self._leaves_below(child)

    def evicted_whole(self, leaf):
        """The highest node above a PodGroup that is evicted whole, None for none."""
        whole = [key for key in self.path(leaf) if self.inner[key].spec.disruption_mode == "all"]
        return whole[-1] if whole else None

    def topmost_gang(self, leaf):
        """The highest node above a PodGroup that is all or nothing, None for none."""
        gangs = [key for key in self.path(leaf) if self.inner[key].spec.scheduling_policy.gang]
        return gangs[-1] if gangs else None
