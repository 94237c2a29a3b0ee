"""Whether any admissible plan of a tiny round places one of some pods, found by trying all plans."""

from support.oracle.exhaustive import MARKED, OWED, PAID, _Search, costs
from support.oracle.valuation import tiers_of


class _Found(Exception):
    """A plan that places one of the pods."""


class _Placing(_Search):
    def __init__(self, cluster):
        self._asked = cluster.asked
        super().__init__(cluster, "none", by_class=True)

    def _likeness(self, i):
        return i in self._asked, super()._likeness(i)

    def _promising(self):
        for k, v in enumerate(self.victims):
            begun = self.begun[k] if self.fate[k] == OWED else self._begun()
            if self.fate[k] in (MARKED, OWED) and not self._has_preemptor(v, self.waiting, begun):
                return False
        return True

    def _consider(self):
        if self._asked.isdisjoint(self.placed):
            return
        left = {v for k, v in enumerate(self.victims) if self.fate[k] == PAID}
        if tiers_of(self.cluster, self.placed, left, "none", self.allocations) is not None:
            raise _Found


def places_any(cluster):
    """Whether some plan places a pod that `Snapshot.asked` names."""
    try:
        _Placing(cluster).visit()
    except _Found:
        return True
    return False


class _Asking(_Placing):
    """All plans, of which the best is one that places the pods, if there is one."""

    def __init__(self, cluster):
        super().__init__(cluster)
        self.best_costs = (0, *self.best_costs)

    def _consider(self):
        left = {v for k, v in enumerate(self.victims) if self.fate[k] == PAID}
        tiers = tiers_of(self.cluster, self.placed, left, "none", self.allocations)
        if tiers is None:
            return
        placed = int(not self._asked.isdisjoint(self.placed))
        vector = (-placed, *costs(tiers))
        if vector < self.best_costs:
            self.best_costs, self.best = vector, {"asked": ("max", placed), **tiers}


def best_tiers(cluster):
    """The values of the best plan of a round that asks about some pods, that tier first; 0 is left out."""
    search = _Asking(cluster)
    search.visit()
    return {name: value for name, (_, value) in search.best.items() if value}


class _Helping(_Placing):
    """All plans: the best, and the best of those that place the pods and take nothing from the kept."""

    def __init__(self, cluster):
        self._kept = cluster.kept
        super().__init__(cluster)
        self.best_good = None

    def _likeness(self, i):
        return i in self._kept, super()._likeness(i)

    def _consider(self):
        left = {v for k, v in enumerate(self.victims) if self.fate[k] == PAID}
        tiers = tiers_of(self.cluster, self.placed, left, "none", self.allocations)
        if tiers is None:
            return
        vector = costs(tiers)
        if vector < self.best_costs:
            self.best_costs = vector
        waiting = {i for i in self._kept if self.cluster.pods[i].initial_node < 0}
        good = not self._asked.isdisjoint(self.placed) and waiting <= self.placed.keys()
        if good and self._kept.isdisjoint(left):
            self.best_good = vector if self.best_good is None else min(vector, self.best_good)


def best_plan_helps(cluster):
    """Whether a best plan places a pod of `Snapshot.asked` and takes nothing from those of `Snapshot.kept`.

    `kept` is a wish here: the best plan is that of the round without it.
    """
    search = _Helping(cluster)
    search.visit()
    return search.best_good is not None and search.best_good <= search.best_costs
