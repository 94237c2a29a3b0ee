"""The greedy baseline, run until nothing changes.

A pass is that of `trace`.  After a pass its victims leave and budgets drop by them; then nominated pods, in
queue order, bind where their nominated node still takes them, else they lose the nomination; then the next
pass.  It ends: a pod binds or leaves once, and each nomination removes a pod.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from .cycle import Cycle, apply, schedule_one
from .ledger import Ledger
from .runtime import framework_for
from .state import State

if TYPE_CHECKING:
    from .cluster import Cluster

Step = tuple[Literal["bind", "mark", "leave"], int, int]
"""What happened: (kind, pod, node); the node is -1 unless a pod was bound."""


@dataclass(slots=True)
class GreedyOutcome:
    """What kube-scheduler's algorithm made of a round.

    Attributes
    ----------
    steps : list of Step
        In order.  A pod that terminates in the input and leaves for a nominated pod has a `leave` without a
        `mark`.
    node_of_new : dict
        Pod to node, for pods that were bound and not evicted afterwards.
    victims : list of (int, int, int)
        Who left, in order: pod, its node, and the pod for which it left (which may have ended elsewhere).
    nominations : dict
        Pod to (node, victims), for pods that were nominated and have bound there.
    state : State
        The end.
    passes : int
        How many passes it took, the last one that changed nothing among them.
    """

    state: State
    steps: list[Step] = field(default_factory=list)
    node_of_new: dict[int, int] = field(default_factory=dict)
    victims: list[tuple[int, int, int]] = field(default_factory=list)
    nominations: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)
    passes: int = 0


def run_to_quiescence(cluster: "Cluster") -> GreedyOutcome:
    """Run passes over the pending pods until one changes nothing."""
    run = _Run(cluster)
    while run.one_pass():
        pass
    return run.outcome


class _Run:
    def __init__(self, cluster: "Cluster") -> None:
        self._cluster = cluster
        self._ledger = Ledger(cluster)
        self._state = State.initial(cluster, nominations=True)
        self._waiting = list(cluster.pending)
        # A nomination of the input has no victims of its own.
        self._expected: dict[int, tuple[int, ...]] = {}
        self._hopeless: set[tuple[int, int, int]] = set()
        self.outcome = GreedyOutcome(self._state)

    def one_pass(self) -> bool:
        """Try every waiting pod once, let victims leave and nominated pods bind; say whether it mattered."""
        self.outcome.passes += 1
        before = len(self.outcome.steps)
        leaving: dict[int, int] = {}
        for i in self._waiting:
            cycle = self._try(i)
            if cycle is None:
                continue
            if cycle.outcome == "nominated":
                fresh = [j for j in cycle.victims if not self._state.terminating[j]]
                self.outcome.steps += [("mark", j, -1) for j in fresh]
                for j in cycle.victims:
                    leaving.setdefault(j, i)
                self._expected[i] = cycle.victims
            apply(self._state, cycle, self._ledger)
            if cycle.outcome == "bound":
                self._bound(i, cycle.node)
        self._leave(leaving)
        lost = self._settle_nominations()
        done = {*self.outcome.node_of_new, *(victim for victim, _, _ in self.outcome.victims)}
        self._waiting = [i for i in self._waiting if i not in done]
        return len(self.outcome.steps) > before or lost

    def _try(self, i: int) -> Cycle | None:
        """Run a cycle; None where a pod like it has just failed and nothing has changed since."""
        state = self._state
        key = (self._cluster.pods[i].cls, state.version, state.nominations_version)
        if i not in state.nominated and key in self._hopeless:
            return None
        cycle = schedule_one(framework_for(self._cluster, i), state, i, self._ledger)
        if cycle.outcome == "unschedulable" and i not in state.nominated:
            self._hopeless.add(key)
        return cycle

    def _bound(self, i: int, node: int) -> None:
        self.outcome.steps.append(("bind", i, node))
        self.outcome.node_of_new[i] = node

    def _leave(self, leaving: dict[int, int]) -> None:
        """Let a pass's victims leave; they use their budgets, unless they were terminating in the input."""
        pods = self._cluster.pods
        self._ledger.pay(j for j in leaving if not pods[j].terminating)
        for j, preemptor in leaving.items():
            self.outcome.victims.append((j, int(self._state.node_of[j]), preemptor))
            self.outcome.steps.append(("leave", j, -1))
            self.outcome.node_of_new.pop(j, None)
            self.outcome.nominations.pop(j, None)
            self._state.remove(j)

    def _settle_nominations(self) -> bool:
        """Bind nominated pods where their node still takes them; say whether any lost its nomination."""
        state, lost = self._state, False
        for i in self._waiting:
            node = state.nominated.get(i)
            if node is None:
                continue
            passes = framework_for(self._cluster, i).filter_nominated(state, i, node).ok
            state.withdraw(i)
            if passes:
                state.place(i, node)
                self._bound(i, node)
                self.outcome.nominations[i] = (node, self._expected.get(i, ()))
            else:
                lost = True
        return lost
