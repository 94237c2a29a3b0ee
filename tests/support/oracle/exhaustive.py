"""Every admissible plan of a tiny round, tried one by one: what optimal means, without a solver.

Depth first over the steps of a plan, with memory of the situations that were seen:

    bind (class, node)     one more pod of a class of equal pods passes every filter there now, with any
                           devices that its claims could have there (`allotments`)
    mark v                 a running pod terminates: it holds all it held, but no longer counts for spread
    leave v                a terminating pod is gone; it waits for its preemptor
    deallocate c           a claim that is not reserved, or only for one pod that waits, loses its devices

A situation in which no pod is marked and every pod that left has had a preemptor is a plan: a newcomer on its
node, of strictly higher priority and allowed to preempt, bound after it left; a gang's only if the pod left
before the first of the gang was bound. Of a group that is evicted whole it may be the node of any member.
Nothing here knows an encoder or an order search; it stands on the
framework's state and filters, and on `valuation`, which also judges the rules of pod groups.

Limits on evictions (`models.eviction_limits`) are kept as they are written: who is named stays, and a branch
ends where too many are gone.

Three facts keep it quick, each of them a necessary condition: only a pod below some preemptor that can ever
stand on its node may leave; a branch is left when even all reachable pods placed without another eviction
would be no better than the best plan; mark and leave are one step for a pod that no spread constraint counts.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.dra.extended import offered, requested
from kubestow.framework.dra.index import claim_keys
from kubestow.framework.rules.groups import group_of
from kubestow.framework.rules.spread import constraints_of, spread_matches
from kubestow.framework.state.moves import Bind, Deallocate, Leave, Mark
from kubestow.framework.state.state import State
from support.oracle.allotments import Allotments
from support.oracle.exhaustive_devices import Devices
from support.oracle.group_valuation import nodes_of_preemptors
from support.oracle.tree_valuation import Trees
from support.oracle.valuation import level_of, tiers_of

PRESENT, MARKED, OWED, PAID = range(4)
"""What has become of a possible victim; owed means gone without a preemptor so far."""


@dataclass(frozen=True)
class Best:
    """The best plan: tiers (name -> (sense, value)), steps, devices by claim; how much was looked at."""

    tiers: dict
    moves: tuple
    allocations: dict
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
    return Best(search.best, search.best_moves, search.best_allocations, len(search.seen))


class _Search:
    def __init__(self, cluster, prefer, by_class):
        self.cluster = cluster
        self.prefer = prefer
        self.state = State.initial(cluster)
        self.devices = Devices(cluster, self.state)
        self.allotments = Allotments(cluster)
        self.moves = []
        self.seen = set()
        self.feasible = {}
        self.ways = {}
        self.placed = {}
        self.allocations = {}
        groups = {}
        for i in cluster.pending:
            if not self._never(i):
                groups.setdefault(self._likeness(i) if by_class else i, []).append(i)
        self.classes = list(groups.values())
        self.gangs = [self._gang(pods[0]) for pods in self.classes]
        self.serving = {v: nodes_of_preemptors(cluster, v) for v in cluster.bound}
        self.waiting = [len(pods) for pods in self.classes]
        self.counts = [[0] * cluster.n_nodes for _ in self.classes]
        self.reach = self._reach()
        self.victims = [
            v for v in cluster.bound if self._has_preemptor(v, self.waiting) and not self._is_spared(v)
        ]
        self.fate = [PRESENT] * len(self.victims)
        self.begun = [frozenset()] * len(self.victims)
        self.marks = [self._counts_for_spread(v) for v in self.victims]
        self.best = tiers_of(cluster, {}, (), prefer)
        self.best_costs = costs(self.best)
        self.best_moves, self.best_allocations = (), {}
        self.names = list(self.best)
        self.levels = [level_of(cluster, v) for v in self.victims]

    # -- facts about the round --

    def _likeness(self, i):
        """A key that is equal for pods of which it does not matter which one is placed."""
        return self.devices.likeness(i)

    def _reach(self):
        """Where a pod of each class can stand once all pods below some preemptor are gone."""
        cluster = self.cluster
        masks = [framework_for(cluster, pods[0]).static_mask(pods[0]) for pods in self.classes]
        room = cluster.allocatable - self.state.requested
        for v in cluster.bound:
            info = cluster.pods[v]
            if any(
                mask[n] and self._serves(pods[0], v)
                for pods, mask in zip(self.classes, masks, strict=True)
                for n in self.serving[v]
            ):
                room[:, info.initial_node] += cluster.usage[v]
        reach = []
        for pods, mask in zip(self.classes, masks, strict=True):
            request = np.array(self._checked(pods[0])).reshape(-1, 1)
            fits = (request <= room) | (request == 0)
            for name in requested(cluster, pods[0]):
                # devices may serve it where the node does not
                fits[cluster.resource_index[name]] |= ~offered(cluster, name)
            reach.append(mask & fits.all(axis=0))
        return reach

    def _checked(self, pod):
        """What the filter of a pod's profile looks at of its request; nothing where it has none."""
        cluster, profile = self.cluster, self.cluster.profile(pod)
        if "NodeResourcesFit" not in profile.points["filter"]:
            return [0] * len(cluster.resources)
        args = profile.args("NodeResourcesFit")
        ignored = {
            name
            for name in cluster.resources
            if name in args.ignored_resources or name.split("/")[0] in args.ignored_resource_groups
        }
        amounts = zip(cluster.resources, cluster.pods[pod].request, strict=True)
        return [0 if name in ignored and "/" in name else amount for name, amount in amounts]

    def _never(self, pod):
        """Whether a pod waits for its group, whatever the cluster looks like."""
        group = group_of(self.cluster, pod)
        return group is not None and group.waits is not None

    def _gang(self, pod):
        """Name what starts as one with a pod: its gang, or the topmost gang of the tree."""
        group = group_of(self.cluster, pod)
        if group is None:
            return None
        topmost = Trees(self.cluster.snapshot).topmost_gang(group.key)
        return topmost or (group.index if group.min_count is not None else None)

    def _serves(self, pod, victim):
        preemptor = self.cluster.pods[pod]
        return preemptor.preempts and preemptor.priority > self.cluster.pods[victim].priority

    def _has_preemptor(self, victim, waiting, begun=frozenset()):
        """Whether a waiting pod could be a victim's preemptor; gangs in `begun` serve no further victims."""
        return any(
            waiting[c]
            and any(self.reach[c][n] for n in self.serving[victim])
            and self._serves(pods[0], victim)
            and self.gangs[c] not in begun
            for c, pods in enumerate(self.classes)
        )

    def _is_spared(self, victim):
        """Whether a limit names the pod; one that terminates already is past that."""
        info, limits = self.cluster.pods[victim], self.cluster.snapshot.limits
        named = any(pods.matches(info.namespace, info.labels) for pods in limits.never)
        return named and not info.terminating

    def _too_many(self):
        """Whether more pods are on their way out, or gone, than may be evicted."""
        most = self.cluster.snapshot.limits.evictions
        pods = self.cluster.pods
        gone = sum(
            fate != PRESENT and not pods[v].terminating
            for v, fate in zip(self.victims, self.fate, strict=True)
        )
        return most is not None and gone > most

    def _begun(self):
        """Return the gangs with a bound member."""
        bound = (
            g
            for g, pods, left in zip(self.gangs, self.classes, self.waiting, strict=True)
            if left < len(pods)
        )
        return frozenset(g for g in bound if g is not None)

    def _counts_for_spread(self, victim):
        return any(
            spread_matches(self.cluster, constraint, pods[0], victim)
            for pods in self.classes
            for constraint in constraints_of(self.cluster, pods[0])
        )

    # -- the search --

    def visit(self):
        """Visit this situation and all that follow from it."""
        situation = (tuple(map(tuple, self.counts)), tuple(self.fate), tuple(self.begun), self._bindings())
        if situation in self.seen:
            return
        self.seen.add(situation)
        if self._too_many() or not self._promising():
            return
        if MARKED not in self.fate and OWED not in self.fate:
            self._consider()
        for c, pods in enumerate(self.classes):
            if self.waiting[c]:
                pod = pods[-self.waiting[c]]
                for n in self._feasible(c, pod):
                    for brought in self._ways(c, pod, n):
                        self._bind(c, pod, n, brought)
        begun = self._begun()
        for k, v in enumerate(self.victims):
            if self.fate[k] in (PRESENT, MARKED) and self._has_preemptor(v, self.waiting, begun):
                self._move(k, v)
        for claim in self.devices.idle(self.state):
            self._deallocate(claim)

    def _bindings(self):
        return self.devices.key(self.state, self.placed, self.allocations)

    def _feasible(self, c, pod):
        """The nodes that pass every filter now, given where pods are, which terminate and what is bound."""
        physical = tuple(min(fate, OWED) for fate in self.fate)
        key = (c, tuple(map(tuple, self.counts)), physical, self._bindings())
        if key not in self.feasible:
            check = framework_for(self.cluster, pod).filter_node
            nodes = range(self.cluster.n_nodes)
            self.feasible[key] = [n for n in nodes if check(self.state, pod, n).ok]
        return self.feasible[key]

    def _ways(self, c, pod, n):
        """The devices that a pod's claims could have on a node now; nothing, once, for a pod without any."""
        key = (pod, n, self.devices.held(self.state))
        if key not in self.ways:
            self.ways[key] = self.allotments.of(self.state, pod, n)
        return self.ways[key]

    def _bind(self, c, pod, n, brought):
        fate = list(self.fate)
        self.state.place(pod, n, brought)
        self.waiting[c] -= 1
        self.counts[c][n] += 1
        self.placed[pod] = n
        self.allocations |= brought
        self.moves.append(Bind(pod, n))
        for k, v in enumerate(self.victims):
            if (
                self.fate[k] == OWED
                and n in self.serving[v]
                and self._serves(pod, v)
                and self.gangs[c] not in self.begun[k]
            ):
                self.fate[k] = PAID
        self.visit()
        self.fate = fate
        self.moves.pop()
        del self.placed[pod]
        for key in brought:
            del self.allocations[key]
        self.counts[c][n] -= 1
        self.waiting[c] += 1
        self.state.take_back(pod)

    def _move(self, k, v):
        """Mark a victim, or let it leave, or both where marking means nothing."""
        fate, begun, steps, before = self.fate[k], self.begun[k], len(self.moves), self.state
        self.state = before.copy()
        terminating = bool(self.state.terminating[v])
        if not terminating:
            self.state.mark(v)
            self.moves.append(Mark(v))
        if terminating or not self.marks[k]:
            self.state.remove(v)
            self.moves.append(Leave(v))
            self.fate[k], self.begun[k] = OWED, self._begun()
        else:
            self.fate[k] = MARKED
        self.visit()
        del self.moves[steps:]
        self.state = before
        self.fate[k], self.begun[k] = fate, begun

    def _deallocate(self, claim):
        before = self.state
        self.state = before.copy()
        self.state.deallocate(claim)
        self.moves.append(Deallocate(claim_keys(self.cluster).index(claim)))
        self.visit()
        self.moves.pop()
        self.state = before

    # -- what a plan is worth --

    def _promising(self):
        """Whether placing all that is left, without another eviction, would beat the best plan."""
        for k, v in enumerate(self.victims):
            begun = self.begun[k] if self.fate[k] == OWED else self._begun()
            if self.fate[k] in (MARKED, OWED) and not self._has_preemptor(v, self.waiting, begun):
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
        tiers = tiers_of(self.cluster, self.placed, left, self.prefer, self.allocations)
        if tiers is not None and costs(tiers) < self.best_costs:
            self.best, self.best_costs = tiers, costs(tiers)
            self.best_moves, self.best_allocations = tuple(self.moves), dict(self.allocations)
