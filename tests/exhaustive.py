"""Every admissible plan of a tiny round, tried one by one: what optimal means, without a solver.

Depth first over the steps of a plan, with memory of the situations that were seen:

    bind (class, node)     one more pod of a class of equal pods passes every filter there now
    mark v                 a running pod terminates: it holds all it held, but no longer counts for spread
    leave v                a terminating pod is gone; it waits for its preemptor

A situation in which nobody is marked and every pod that left has had a preemptor is a plan: a newcomer on its
node, of strictly higher priority and allowed to preempt, bound after it left.  Nothing here knows an encoder
or an order search; it stands on the framework's state and filters, and on `valuation`.

Three facts keep it quick, each of them a necessary condition: only a pod below some preemptor that can ever
stand on its node may leave; a branch is left when even all reachable pods placed without another eviction
would be no better than the best plan; mark and leave are one step for a pod that no spread constraint counts.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
from valuation import level_of, tiers_of

from kubestow.framework.runtime import framework_for
from kubestow.framework.spread import constraints_of, spread_matches
from kubestow.framework.state import State

PRESENT, MARKED, OWED, PAID = range(4)
"""What has become of a possible victim; owed means gone without a preemptor so far."""


@dataclass(frozen=True)
class Best:
    """The best plan: tiers (name -> (sense, value)), steps, and how many situations were looked at."""

    tiers: dict
    moves: tuple
    situations: int


def costs(tiers):
    """The vector to compare by: lexicographically smaller is better."""
    return tuple(-value if sense == "max" else value for sense, value in tiers.values())


def best_plan(cluster, prefer="none", *, by_class=True):
    """Search all admissible plans of a round.

    `prefer` adds a last tier; without classes every pod is tried by itself.
    """
    search = _Search(cluster, prefer, by_class)
    search.visit()
    return Best(search.best, search.best_moves, len(search.seen))


class _Search:
    def __init__(self, cluster, prefer, by_class):
        self.cluster = cluster
        self.prefer = prefer
        self.state = State.initial(cluster)
        self.moves = []
        self.seen = set()
        self.feasible = {}
        self.placed = {}
        groups = {}
        for i in cluster.pending:
            groups.setdefault(cluster.pods[i].cls if by_class else i, []).append(i)
        self.classes = list(groups.values())
        self.waiting = [len(pods) for pods in self.classes]
        self.counts = [[0] * cluster.n_nodes for _ in self.classes]
        self.reach = self._reach()
        self.victims = [v for v in cluster.bound if self._has_preemptor(v, self.waiting)]
        self.fate = [PRESENT] * len(self.victims)
        self.marks = [self._counts_for_spread(v) for v in self.victims]
        self.best = tiers_of(cluster, {}, (), prefer)
        self.best_costs = costs(self.best)
        self.best_moves = ()
        self.names = list(self.best)
        self.levels = [level_of(cluster, v) for v in self.victims]

    # -- facts about the round --

    def _reach(self):
        """Where a pod of each class can stand once all pods below some preemptor are gone."""
        cluster = self.cluster
        masks = [framework_for(cluster, pods[0]).static_mask(pods[0]) for pods in self.classes]
        room = cluster.allocatable - self.state.requested
        for v in cluster.bound:
            info = cluster.pods[v]
            if any(
                mask[info.initial_node] and self._serves(pods[0], v)
                for pods, mask in zip(self.classes, masks, strict=True)
            ):
                room[:, info.initial_node] += cluster.usage[v]
        reach = []
        for pods, mask in zip(self.classes, masks, strict=True):
            request = np.array(cluster.pods[pods[0]].request).reshape(-1, 1)
            reach.append(mask & ((request <= room) | (request == 0)).all(axis=0))
        return reach

    def _serves(self, pod, victim):
        preemptor = self.cluster.pods[pod]
        return preemptor.preempts and preemptor.priority > self.cluster.pods[victim].priority

    def _has_preemptor(self, victim, waiting):
        node = self.cluster.pods[victim].initial_node
        return any(
            waiting[c] and self.reach[c][node] and self._serves(pods[0], victim)
            for c, pods in enumerate(self.classes)
        )

    def _counts_for_spread(self, victim):
        return any(
            spread_matches(self.cluster, constraint, pods[0], victim)
            for pods in self.classes
            for constraint in constraints_of(self.cluster, pods[0])
        )

    # -- the search --

    def visit(self):
        """Look at this situation and all that follow from it."""
        situation = (tuple(map(tuple, self.counts)), tuple(self.fate), self.state.bindings())
        if situation in self.seen:
            return
        self.seen.add(situation)
        if not self._promising():
            return
        if MARKED not in self.fate and OWED not in self.fate:
            self._consider()
        for c, pods in enumerate(self.classes):
            if self.waiting[c]:
                for n in self._feasible(c):
                    self._bind(c, pods[-self.waiting[c]], n)
        for k, v in enumerate(self.victims):
            if self.fate[k] in (PRESENT, MARKED) and self._has_preemptor(v, self.waiting):
                self._move(k, v)

    def _feasible(self, c):
        """The nodes that pass every filter now: a matter of who is where, who terminates, what is bound."""
        physical = tuple(min(fate, OWED) for fate in self.fate)
        key = (c, tuple(map(tuple, self.counts)), physical, self.state.bindings())
        if key not in self.feasible:
            pod = self.classes[c][0]
            check = framework_for(self.cluster, pod).filter_node
            nodes = range(self.cluster.n_nodes)
            self.feasible[key] = [n for n in nodes if check(self.state, pod, n).ok]
        return self.feasible[key]

    def _bind(self, c, pod, n):
        fate = list(self.fate)
        self.state.place(pod, n)
        self.waiting[c] -= 1
        self.counts[c][n] += 1
        self.placed[pod] = n
        self.moves.append(("bind", pod, n))
        for k, v in enumerate(self.victims):
            if self.fate[k] == OWED and self.cluster.pods[v].initial_node == n and self._serves(pod, v):
                self.fate[k] = PAID
        self.visit()
        self.fate = fate
        self.moves.pop()
        del self.placed[pod]
        self.counts[c][n] -= 1
        self.waiting[c] += 1
        self.state.take_back(pod)

    def _move(self, k, v):
        """Mark a victim, or let it leave, or both where marking means nothing."""
        info, before, steps = self.cluster.pods[v], self.fate[k], len(self.moves)
        terminating = bool(self.state.terminating[v])
        if not terminating:
            self.state.mark(v)
            self.moves.append(("mark", v, -1))
        if terminating or not self.marks[k]:
            self.state.remove(v)
            self.moves.append(("leave", v, -1))
            self.fate[k] = OWED
        else:
            self.fate[k] = MARKED
        self.visit()
        del self.moves[steps:]
        if self.fate[k] == OWED:
            self.state.place(v, info.initial_node)
        if terminating:
            self.state.mark(v)
        else:
            self.state.unmark(v)
        self.fate[k] = before

    # -- what a plan is worth --

    def _promising(self):
        """Whether placing all that is left, without another eviction, would beat the best plan."""
        for k, v in enumerate(self.victims):
            if self.fate[k] in (MARKED, OWED) and not self._has_preemptor(v, self.waiting):
                return False
        pods = self.cluster.pods
        most = Counter(pods[i].priority for i in self.placed)
        for c, members in enumerate(self.classes):
            if self.reach[c].any():
                most[pods[members[0]].priority] += self.waiting[c]
        fewest = Counter(
            (self.levels[k], pods[v].priority)
            for k, v in enumerate(self.victims)
            if self.fate[k] != PRESENT and not pods[v].terminating
        )
        hoped = {f"scheduled[priority={level}]": -count for level, count in most.items()}
        hoped |= {f"evicted[priority={level},victim={q}]": count for (level, q), count in fewest.items()}
        # nothing is known of the points to come
        hoped["scores"] = -(10**9)
        return tuple(hoped.get(name, 0) for name in self.names) < self.best_costs

    def _consider(self):
        left = {v for k, v in enumerate(self.victims) if self.fate[k] == PAID}
        tiers = tiers_of(self.cluster, self.placed, left, self.prefer)
        if tiers is not None and costs(tiers) < self.best_costs:
            self.best, self.best_costs, self.best_moves = tiers, costs(tiers), tuple(self.moves)
