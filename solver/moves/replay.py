"""Replay of moves: every step of an order goes through the framework's rules before it is printed.

Nothing here knows how an order was made: no encoder, no solver, no search. Source: docs/model.md, "Moves".
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ...framework.cycle.runtime import framework_for
from ...framework.dra.index import claim_keys
from ...framework.measures.group_rules import faults_of_groups, nodes_for_member
from ...framework.rules.eviction_budgets import charged
from ...framework.rules.movable import WORDS
from ...framework.state.moves import Bind, Cordon, Deallocate, Leave, Mark, Uncordon
from ...framework.state.state import State
from ...models.progress import Watch, unwatched
from ..plans.apply import apply_moves
from ..plans.replay import ReplayFailure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from ...framework.state.moves import Change
    from ...models.moves import MoveStep
    from .moving import Moving


class Run(NamedTuple):
    """Steps applied one by one: the state after the last that is possible, and why no more are (or empty)."""

    end: State
    fault: str


def replay(
    moving: Moving,
    steps: Sequence[MoveStep],
    closed: Iterable[str] = (),
    watch: Watch = unwatched,
    *,
    admit: bool = False,
) -> State:
    """Check the steps of moves; return the state in which they end.

    Parameters
    ----------
    closed : iterable of str
        Nodes that take no moved pods from the start.
    admit : bool
        Whether pods that wait in the input may be bound as well.

    Raises
    ------
    ReplayFailure
        Naming the first step that does not hold.
    """
    nodes = [moving.cluster.node_index[name] for name in closed]
    run = follow(moving, changes_of(moving, steps), nodes, watch, admit=admit)
    if run.fault:
        raise ReplayFailure(f"the moves fail their replay: {run.fault}")
    return run.end


def changes_of(moving: Moving, steps: Sequence[MoveStep]) -> list[Change | Deallocate]:
    """Read steps back into numbers.

    Raises
    ------
    ReplayFailure
        For a step that says nothing, or several things, or names a pod or node that is not there.
    """
    cluster = moving.cluster
    found: list[Change | Deallocate] = []
    claims = {key: claim for claim, key in enumerate(claim_keys(cluster))}
    for number, step in enumerate(steps):
        said = step.model_dump()
        named = said.pop("node", None)
        pod = cluster.pod_index.get(step.mark or step.leave or step.bind or "")
        node = cluster.node_index.get(step.cordon or step.uncordon or named or "")
        if len(said) != 1 or (named is not None) != (step.bind is not None):
            raise ReplayFailure(f"the moves fail their replay: step {number} does not say one thing")
        match next(iter(said)):
            case "mark" if pod is not None:
                found.append(Mark(pod))
            case "leave" if pod is not None:
                found.append(Leave(pod))
            case "bind" if pod is not None and node is not None:
                found.append(Bind(pod, node))
            case "cordon" if node is not None:
                found.append(Cordon(node))
            case "uncordon" if node is not None:
                found.append(Uncordon(node))
            case "deallocate" if step.deallocate in claims:
                found.append(Deallocate(claims[step.deallocate]))
            case _:
                raise ReplayFailure(
                    f"the moves fail their replay: step {number} names an unknown pod or node"
                )
    return found


def follow(
    moving: Moving,
    changes: Sequence[Change | Deallocate],
    closed: Collection[int] = (),
    watch: Watch = unwatched,
    state: State | None = None,
    *,
    admit: bool = False,
) -> Run:
    """Apply changes one after the other, each only if it is possible at its step.

    Parameters
    ----------
    closed : collection of int
        Nodes that take no moved pods from the start.
    state : State, optional
        Where to begin, which is changed; without it where the input stands.
    admit : bool
        Whether pods that wait in the input may be bound as well.
    """
    waiting = {i for i in moving.cluster.pending if i not in moving.original} if admit else set()
    run = _Run(moving, State.initial(moving.cluster) if state is None else state, set(closed), waiting)
    for number, change in enumerate(changes):
        watch("replaying: steps", number, len(changes))
        fault = run.step(change)
        if fault:
            return Run(run.state, f"step {number} {fault}")
    return Run(run.state, run.fault_of_end())


class _Run:
    """The state, which nodes are closed, and who is on the way.

    A pod is on the way from its mark until its replacement is bound: so long it takes one of its budgets. One
    that terminates in the input may leave at any time, and nothing replaces it.
    """

    def __init__(self, moving: Moving, state: State, closed: set[int], waiting: set[int]) -> None:
        self.state = state
        self._moving = moving
        self._cluster = moving.cluster
        self._closed = closed
        self._waiting, self._came = waiting, set[int]()
        self._marked: set[int] = set()
        self._left: dict[int, tuple[int, int]] = {}
        self._taken: Counter[str] = Counter()

    def step(self, change: Change | Deallocate) -> str:
        """Apply one change; return why it is not possible, empty where it is."""
        match change:
            case Mark(pod):
                fault = self._mark(pod)
            case Leave(pod):
                fault = self._leave(pod)
            case Bind(pod, node):
                fault = self._bind(pod, node)
            case Deallocate(claim):
                fault = self._deallocate(claim_keys(self._cluster)[claim])
            case Cordon(node):
                fault = ""
                self._closed.add(node)
            case Uncordon(node):
                name = self._cluster.node_names[node]
                fault = "" if node in self._closed else f"uncordons {name}, which is open"
                self._closed.discard(node)
                self._left = {i: (old, home if home != node else -1) for i, (old, home) in self._left.items()}
        return fault

    def _deallocate(self, claim: str) -> str:
        """Give the devices of a claim back that is reserved for nobody, or only for a pod that waits."""
        claims = self.state.claims
        if claims is None or claim not in claims.allocations or not claims.idle(claim):
            return f"deallocates {claim}, which is not allocated, or reserved for others"
        self.state.deallocate(claim)
        return ""

    def _mark(self, pod: int) -> str:
        key = self._cluster.pods[pod].key
        if self.state.node_of[pod] < 0:
            return f"marks {key}, which does not run"
        if self.state.terminating[pod]:
            return f"marks {key}, which terminates already"
        reason = self._moving.movable.reasons.get(pod)
        if reason is not None:
            return f"marks {key}, which may not move: {WORDS[reason]}"
        if pod not in self._moving.replacement and pod not in self._moving.original:
            return f"marks {key}, which nothing replaces"
        for budget in charged(self._cluster, pod):
            self._taken[budget.key] += 1
            if self._taken[budget.key] > budget.allowed:
                return f"marks {key} while budget {budget.key}, which allows {budget.allowed}, has none left"
        self.state.mark(pod)
        self._marked.add(pod)
        return ""

    def _leave(self, pod: int) -> str:
        if self._cluster.pods[pod].terminating and self.state.node_of[pod] >= 0:
            self.state.remove(pod)
            return ""
        if pod not in self._marked:
            return f"takes {self._cluster.pods[pod].key} away before it is marked"
        self._marked.remove(pod)
        self._left[self._moving.replaced_by(pod)] = pod, int(self.state.node_of[pod])
        self.state.remove(pod)
        return ""

    def _bind(self, pod: int, node: int) -> str:
        cluster, state = self._cluster, self.state
        where = f"binds {cluster.pods[pod].key} to {cluster.node_names[node]}"
        if pod in self._waiting:
            return self._admit(pod, node, where)
        if pod not in self._left:
            return f"{where}, which replaces no pod that left"
        old, home = self._left[pod]
        if node == home:
            return f"{where}, which {cluster.pods[old].key} has just left"
        if node in self._closed:
            return f"{where}, which takes no pods now"
        status = framework_for(cluster, pod).filter_node(state, pod, node)
        if not status.ok:
            return f"{where}: {status.plugin}: {', '.join(status.reasons)}"
        if not nodes_for_member(cluster, state, pod)[node]:
            return f"{where}, where its pod group does not take it"
        apply_moves(cluster, state, [Bind(pod, node)])
        del self._left[pod]
        for budget in charged(cluster, old):
            self._taken[budget.key] -= 1
        return ""

    def _admit(self, pod: int, node: int, where: str) -> str:
        """Bind a pod that waits in the input; whether its group may have it is a matter of the end."""
        if node in self._closed:
            return f"{where}, which takes no pods now"
        status = framework_for(self._cluster, pod).filter_node(self.state, pod, node)
        if not status.ok:
            return f"{where}: {status.plugin}: {', '.join(status.reasons)}"
        apply_moves(self._cluster, self.state, [Bind(pod, node)])
        self._waiting.remove(pod)
        self._came.add(pod)
        return ""

    def fault_of_end(self) -> str:
        """Return why the state is no end of moves, empty where it is one."""
        pods = self._cluster.pods
        for pod in sorted(self._marked):
            return f"{pods[pod].key} is marked and never leaves"
        for old, _ in self._left.values():
            return f"{pods[old].key} leaves and is never bound again"
        back = {i: int(n) for i in self._moving.original if (n := self.state.node_of[i]) >= 0}
        gone = {self._moving.original[i] for i in back}
        stands = back | {i: int(self.state.node_of[i]) for i in self._came}
        return next(faults_of_groups(self._cluster, stands, gone), "")
