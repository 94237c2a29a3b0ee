"""Whether a drain is possible, by trying every order on tiny clusters: framework and rules, no solver.

A moment is where each pod is: on a node, or gone from one and not yet bound; pods that terminate have gone
before. From each moment everything that may happen next is tried, and each moment is tried once.
"""

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.measures.group_rules import nodes_for_member
from kubestow.framework.rules.movable import movable
from kubestow.framework.state.state import State
from kubestow.models.moves import MoveOptions
from kubestow.models.recreated import with_replacements


class Oracle:
    """All orders of one drain."""

    def __init__(self, snapshot, nodes, rolling):
        before = build_cluster(snapshot)
        self.rolling, self.nodes = rolling, frozenset(before.node_index[name] for name in nodes)
        found = movable(before, MoveOptions())
        self.blocked = any(before.pods[i].initial_node in self.nodes for i in found.blocking())
        there = [i for i in found.pods if before.pods[i].initial_node in self.nodes]
        added = with_replacements(snapshot, [before.pods[i].key for i in there])
        self.cluster = build_cluster(added.snapshot)
        index = self.cluster.pod_index
        self.new_of = {index[old]: index[new] for old, new in added.replacement.items()}
        self.olds = sorted(self.new_of)

    def possible(self):
        """Tell whether any order empties the nodes, breaks no budget and leaves no pod out."""
        if self.blocked:
            return False
        start = tuple((self.cluster.pods[old].initial_node, False, False) for old in self.olds)
        closed = frozenset() if self.rolling else self.nodes
        todo, seen = [(start, closed, frozenset())], set()
        while todo:
            moment = todo.pop()
            if moment in seen:
                continue
            seen.add(moment)
            if self._over(*moment):
                return True
            todo.extend(self._next(*moment))
        return False

    def _over(self, places, closed, done):
        if any(gone for _, gone, _ in places):
            return False
        if self.rolling:
            return done == self.nodes
        return not any(node in self.nodes for node, _, _ in places)

    def _next(self, places, closed, done):
        state = self._state(places)
        for k, old in enumerate(self.olds):
            node, gone, moved = places[k]
            if gone:
                new = self.new_of[old]
                for n in range(self.cluster.n_nodes):
                    if n not in closed and self._takes(state, new, n):
                        yield self._with(places, k, (n, False, True)), closed, done
            elif node in closed and self._budgets_hold(self._with(places, k, (node, True, moved))):
                yield self._with(places, k, (node, True, moved)), closed, done
        if self.rolling:
            for n in closed:
                if not any(node == n and not gone for node, gone, _ in places):
                    yield places, closed - {n}, done | {n}
            if len(closed) < self.rolling:
                for n in self.nodes - closed - done:
                    yield places, closed | {n}, done

    @staticmethod
    def _with(places, k, place):
        return (*places[:k], place, *places[k + 1 :])

    def _state(self, places):
        """Build the state of a moment from nothing."""
        cluster = self.cluster
        state = State(cluster)
        for i in cluster.bound:
            if i not in self.new_of and not cluster.pods[i].terminating:
                state.place(i, cluster.pods[i].initial_node)
        for old, (node, gone, moved) in zip(self.olds, places, strict=True):
            if not gone:
                state.place(self.new_of[old] if moved else old, node)
        return state

    def _takes(self, state, new, node):
        passes = framework_for(self.cluster, new).filter_node(state, new, node).ok
        return passes and nodes_for_member(self.cluster, state, new)[node]

    def _budgets_hold(self, places):
        gone = [self.cluster.pods[old] for old, place in zip(self.olds, places, strict=True) if place[1]]
        for budget in self.cluster.snapshot.pod_disruption_budgets:
            hit = [
                info
                for info in gone
                if info.namespace == budget.namespace and budget.spec.selector.matches(info.labels)
            ]
            if len(hit) > budget.status.disruptions_allowed:
                return False
        return True
