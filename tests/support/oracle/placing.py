"""Whether any admissible plan of a tiny round places one of some pods, found by trying all plans."""

from support.oracle.exhaustive import MARKED, OWED, PAID, _Search
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
