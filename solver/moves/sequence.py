"""An order of moves whose targets are given: batches that no budget minds, each bound before the next.

First in batches: as many pods leave as the budgets let, and of these only such whose replacements then pass
every filter. Where that gets stuck, a depth-first search over all orders from the start, which either finds
one, proves that there is none, or gives up at its limit. Source: docs/model.md, "Moves".
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ...framework.cycle.runtime import framework_for
from ...framework.measures.group_rules import nodes_for_member
from ...framework.rules.eviction_budgets import charged
from ...framework.state.moves import Bind
from ..plans.apply import apply_moves
from .batches import Batches, leave

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...framework.state.moves import Change
    from ...framework.state.state import State
    from .moving import Moving

_EFFORT: Final = 2_000

# Moves beyond which a search of all orders would only spend its effort; it also bounds the recursion.
_MOST_SEARCHED: Final = 100


@dataclass(frozen=True)
class Ordered:
    """What became of the search for an order.

    Attributes
    ----------
    changes : tuple or None
        The steps; None where no order was found.
    state : State
        Where they end; where there is no order, the state of the start.
    proven : bool
        Whether, without an order, it is proven that these targets have none.
    """

    changes: tuple[Change, ...] | None
    state: State
    proven: bool = False


def sequence(moving: Moving, state: State, targets: Mapping[int, int], *, effort: int = _EFFORT) -> Ordered:
    """Find an order of moves.

    Parameters
    ----------
    state : State
        Where it begins; it is not changed.
    targets : mapping
        Running pod (v, or v' that moves on) to the node of its replacement, in the order in which they are
        preferably moved.
    effort : int
        States that the depth-first search looks at before it gives up.
    """
    for pod in targets:
        if any(budget.allowed < 1 for budget in charged(moving.cluster, pod)):
            return Ordered(None, state, proven=True)

    def target(now: State, new: int, old: int) -> int:
        node = targets[old]
        return node if fits(moving, now, new, node) else -1

    batches = Batches(moving, state.copy(), target)
    if not batches.run(targets):
        return Ordered(tuple(batches.changes), batches.state)
    if len(targets) > _MOST_SEARCHED:
        return Ordered(None, state)
    search = _Search(moving, targets, effort)
    found = search.run(state)
    if found is None:
        return Ordered(None, state, proven=search.left > 0)
    return Ordered(tuple(found[0]), found[1])


def fits(moving: Moving, state: State, pod: int, node: int) -> bool:
    """Whether a pod may be bound to a node now, by every filter and by the rules of its group."""
    status = framework_for(moving.cluster, pod).filter_node(state, pod, node)
    return status.ok and bool(nodes_for_member(moving.cluster, state, pod)[node])


class _Search:
    """Depth first over all orders: bind before the next leaves; a position is seen once."""

    def __init__(self, moving: Moving, targets: Mapping[int, int], effort: int) -> None:
        self.left = effort
        self._moving = moving
        self._targets = targets
        self._seen: set[tuple[frozenset[int], frozenset[int]]] = set()

    def run(self, start: State) -> tuple[list[Change], State] | None:
        """Return an order and its end; None where there is none, or the effort is spent (`left` is 0)."""
        return self._from(start, frozenset(), frozenset(), [])

    def _from(
        self, state: State, out: frozenset[int], done: frozenset[int], steps: list[Change]
    ) -> tuple[list[Change], State] | None:
        if len(done) == len(self._targets):
            return steps, state
        if (out, done) in self._seen or not self.left:
            return None
        self._seen.add((out, done))
        self.left -= 1
        moving, cluster = self._moving, self._moving.cluster
        for pod in self._targets:
            if pod not in out:
                continue
            bind = Bind(moving.replaced_by(pod), self._targets[pod])
            if fits(moving, state, bind.pod, bind.node):
                after = state.copy()
                apply_moves(cluster, after, [bind])
                found = self._from(after, out - {pod}, done | {pod}, [*steps, bind])
                if found is not None:
                    return found
        taken = Counter(budget.key for pod in out for budget in charged(cluster, pod))
        for pod in self._targets:
            if pod in out or pod in done:
                continue
            if all(taken[budget.key] < budget.allowed for budget in charged(cluster, pod)):
                after = state.copy()
                found = self._from(after, out | {pod}, done, [*steps, *leave(after, pod)])
                if found is not None:
                    return found
        return None
