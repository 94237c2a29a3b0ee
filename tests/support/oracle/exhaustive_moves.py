"""Every plan of moves of a tiny round, tried one by one: what the best moves are, without a solver.

Depth first over the steps, with memory of the situations that were seen:

    mark v            a running pod that may move terminates, if its budgets let one more be on the way: it
                      holds all it held, but is not counted by spread
    leave v           it is gone; its successor waits from then on
    bind p to n       a successor passes every filter on a node other than its pod's, and its group takes it
                      back; or a pod that waits passes

A situation in which nobody is marked or away is a plan. The definitions are those of docs/rebalance.md,
written a second time on the framework's state and filters alone.
"""

from dataclasses import dataclass

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.measures.group_rules import faults_of_groups, nodes_for_member
from kubestow.framework.rules.eviction_budgets import charged
from kubestow.framework.state.state import State
from kubestow.models.daemons import is_daemon, is_mirror

STAYS, MARKED, AWAY = "stays", "marked", "away"


@dataclass(frozen=True)
class BestMoves:
    """The vector of the best plan to compare by, smaller is better; how many situations were looked at."""

    costs: tuple
    situations: int


def best_moves(cluster, successors, goal, *, most=None, memory=False):
    """Search all plans of moves.

    Parameters
    ----------
    cluster : Cluster
        With the successors among its pending pods.
    successors : mapping
        Running pod that may move -> the pending pod that takes its place.
    goal : str or callable
        The goal of docs/rebalance.md, or what returns the costs of a plan: of the end, and of what came.
    """
    search = _Search(cluster, dict(successors), goal, most, memory)
    search.visit()
    return BestMoves(search.best, len(search.seen))


class _Search:
    def __init__(self, cluster, successors, goal, most, memory):
        self.cluster, self.successors, self.goal, self.memory = cluster, successors, goal, memory
        self.most = len(successors) if most is None else most
        self.origin = {made: v for v, made in successors.items()}
        self.waiting = [i for i in cluster.pending if i not in self.origin]
        self.home = {v: cluster.pods[v].initial_node for v in successors}
        self.state = State.initial(cluster)
        self.fate = dict.fromkeys(successors, STAYS)
        self.at = {}
        self.seen = set()
        self.best = None

    def visit(self):
        key = (tuple(self.fate.values()), tuple(sorted(self.at.items())))
        if key in self.seen:
            return
        self.seen.add(key)
        if all(fate not in (MARKED, AWAY) for fate in self.fate.values()):
            self._consider()
        for v in self.successors:
            if self.fate[v] == MARKED:
                self._try(v, AWAY)
            elif self.fate[v] == STAYS and self._may_go(v):
                self._try(v, MARKED)
        for i in (*self.waiting, *(self.successors[v] for v, f in self.fate.items() if f == AWAY)):
            if i in self.at:
                continue
            for n in range(self.cluster.n_nodes):
                if self._passes(i, n):
                    self._bind(i, n)

    def _try(self, v, fate):
        before, old = self.state.copy(), self.fate[v]
        self.state.mark(v) if fate == MARKED else self.state.remove(v)
        self.fate[v] = fate
        self.visit()
        self.fate[v] = old
        self.state = before

    def _bind(self, i, n):
        before = self.state.copy()
        self.state.place(i, n)
        self.at[i] = n
        v = self.origin.get(i)
        if v is not None:
            self.fate[v] = "back"
        self.visit()
        if v is not None:
            self.fate[v] = AWAY
        del self.at[i]
        self.state = before

    def _may_go(self, v):
        if sum(fate != STAYS for fate in self.fate.values()) >= self.most:
            return False
        for budget in charged(self.cluster, v):
            away = [w for w, fate in self.fate.items() if fate in (MARKED, AWAY)]
            if sum(budget in charged(self.cluster, w) for w in away) >= budget.allowed:
                return False
        return True

    def _passes(self, i, n):
        if i in self.origin and (
            n == self.home[self.origin[i]] or not nodes_for_member(self.cluster, self.state, i)[n]
        ):
            return False
        return framework_for(self.cluster, i).filter_node(self.state, i, n).ok

    def _consider(self):
        moved = [v for v, fate in self.fate.items() if fate == "back"]
        if any(True for _ in faults_of_groups(self.cluster, self.at, moved)):
            return
        memory = self.cluster.resources.index("memory")
        bytes_moved = sum(int(self.cluster.usage[v][memory]) for v in moved)
        costs = (*self._gain(), len(moved), *([bytes_moved] if self.memory else []))
        if self.best is None or costs < self.best:
            self.best = costs

    def _gain(self):
        cluster = self.cluster
        node_of = self.state.node_of
        if callable(self.goal):
            return self.goal(self.state, [i for i in self.waiting if i in self.at])
        standing = [i for i in range(len(cluster.pods)) if node_of[i] >= 0]
        loads = [sum(node_of[i] == n for i in standing) for n in range(cluster.n_nodes)]
        if self.goal == "admit":
            levels = sorted({cluster.pods[i].priority for i in self.waiting}, reverse=True)
            came = [cluster.pods[i].priority for i in self.waiting if i in self.at]
            return (*(-came.count(level) for level in levels), 0, 0, 0)
        if self.goal == "pack":
            return (sum(load > 0 for load in loads),)
        if self.goal == "spread":
            return (sum(load**2 for load in loads),)
        busy = {int(node_of[i]) for i in standing if not self._goes_with_its_node(i)}
        return (len(busy) - cluster.n_nodes,)

    def _goes_with_its_node(self, i):
        info = self.cluster.pods[i]
        return info.terminating or is_daemon(info.pod) or is_mirror(info.pod)
