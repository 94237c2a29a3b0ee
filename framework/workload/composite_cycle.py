"""The workload cycle of a tree of groups: its root is tried as one, bound as one, and makes room as one.

Sources: KEP-6012, "Recursive Scheduling Cycle Execution" and "Preemption triggering rules"; kube-scheduler
schedule_one_podgroup.go (1.37).
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..cycle.cycle import Cycle, apply, complete
from ..cycle.runtime import framework_for
from ..rules.composites import Composite
from ..vocabulary.message import NO_NODES
from .attempt import Attempt, walk
from .choice import variant_of_trees
from .composite import TreeWalk, Trial
from .outcome import Member
from .placement import Assignment, Placement, info_of
from .placing import WAITING, PlacedCycle, nominated_member
from .preemption import make_room
from .variants import NOBODY

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State


@dataclass(frozen=True, slots=True, eq=False)
class TreeCycle(PlacedCycle):
    """What happened to a tree.

    Attributes
    ----------
    trial : Trial or None
        That of its root, None where nothing was tried.
    """

    trial: Trial | None = None

    @property
    def constrained(self) -> bool:
        """Whether any group of the tree that was tried has a topology constraint."""
        return any(node.info.group.topology_keys for node in _nodes(self.trial))

    def members(self, state: "State", ledger: "Ledger") -> Iterator[Member]:
        """Tell what the cycle means for each pod, in the order in which they were tried."""
        root = self.info.group
        assert isinstance(root, Composite)
        keys = {i: leaf.key for leaf in root.leaves() for i in leaf.pending}
        tried: set[int] = set()
        if self.trial is not None:
            for member in _Teller(self, ledger).tell(state.copy(), self.trial, ""):
                tried.add(member.cycle.pod)
                yield member
        for i in self.info.pods:
            if i not in tried:
                yield _told(self, Cycle(i), "", self.refusal, keys[i])

    def document(self, state: "State", ledger: "Ledger") -> dict[str, Any] | None:
        """Write the tree's entry as that of a group, with the groups that were tried, parents first."""
        written = PlacedCycle.document(self, state, ledger)
        if written is None:
            return None
        del written["podGroup"]
        found = [_entry(node) for node in _nodes(self.trial)]
        return {"compositePodGroup": self.info.group.key, **written, "groups": found}


def schedule_tree(
    cluster: "Cluster", state: "State", root: Composite, ledger: "Ledger", gone: Collection[int] = ()
) -> TreeCycle | None:
    """Try to place a tree; changes nothing. Parameters and result as for `schedule_group`."""
    info = info_of(cluster, state, root, gone)
    if not info.pods:
        return None
    variant = variant_of_trees(cluster, info.pods[0])
    if root.waits is not None:
        return TreeCycle(variant, info, root.waits, error=True)
    if not cluster.n_nodes:
        return TreeCycle(variant, info, NO_NODES, error=True)
    everywhere = Placement("", np.ones(cluster.n_nodes, dtype=np.bool_))
    steps = TreeWalk(variant, ledger, gone)
    trial = steps.attempt(state, root, everywhere)
    if trial.error:
        return TreeCycle(variant, info, trial.refusal, error=True, trial=trial)
    if trial.assignment:
        made = Attempt(trial.placement or everywhere, tuple(trial.kept()), "")
        return TreeCycle(variant, info, "", error=False, attempt=made, trial=trial)
    refusal = trial.refusal or NOBODY
    if trial.hopeless:
        return TreeCycle(variant, info, refusal, error=False, trial=trial)

    def place(emptied: "State") -> Assignment:
        return steps.attempt(emptied, root, everywhere).assignment

    def apart(j: int, assignment: Assignment) -> bool:
        return _is_apart(cluster, state, root, j, assignment)

    room = make_room(variant, state, info, ledger, place, apart)
    if isinstance(room, str):
        return TreeCycle(variant, info, f"{refusal}, {room}", error=False, trial=trial)
    return TreeCycle(variant, info, WAITING, error=False, preemption=room, trial=trial)


def _is_apart(cluster: "Cluster", state: "State", root: Composite, j: int, assignment: Assignment) -> bool:
    """Whether a running member is in another domain than the new members of a group that it is below."""
    for group in (*root.leaves(), *root.inner()):
        if j in group.members:
            for key in group.topology_keys:
                ids = cluster.domains(key).ids
                here = ids[state.node_of[j]]
                if any(ids[n] != here for i, n in assignment.items() if i in group.members):
                    return True
    return False


class _Teller:
    """Goes through a trial once more and tells each member its part."""

    def __init__(self, cycle: TreeCycle, ledger: "Ledger") -> None:
        self._cycle = cycle
        self._ledger = ledger

    def tell(self, state: "State", node: Trial, above: str) -> Iterator[Member]:
        """Tell the members below a node; `state` gets what the node took, `above` is its parents' refusal."""
        refusal = node.refusal or above
        if isinstance(node.info.group, Composite):
            yield from self._children(state.copy(), node, refusal)
        else:
            yield from self._pod_group(state.copy(), node, refusal)
        for own in node.kept():
            if own.outcome == "bound":
                apply(state, own, self._ledger)

    def _children(self, state: "State", node: Trial, refusal: str) -> Iterator[Member]:
        assert isinstance(node.info.group, Composite)
        for child in node.children:
            yield from self.tell(state, child, refusal)
        for group in node.info.group.children[len(node.children) :]:
            for i in group.pending:
                if i in node.info.pods:
                    yield _told(self._cycle, Cycle(i), "", refusal, group.key)

    def _pod_group(self, state: "State", node: Trial, refusal: str) -> Iterator[Member]:
        cycle, key = self._cycle, node.info.group.key
        told = 0
        if node.placement is not None:
            steps = walk(cycle.variant, state, node.info, node.placement, self._ledger)
            for own, tried in zip(steps, node.cycles, strict=False):
                told += 1
                complete(framework_for(cycle.variant.cluster, own.pod), state, own)
                message = own.message(cycle.variant.cluster.n_nodes)
                kept = replace(own, allocations=tried.allocations)
                yield _told(cycle, kept, message, refusal, key, node.placement.name)
        for i in node.info.pods[told:]:
            yield _told(cycle, Cycle(i), "", refusal, key)


def _told(tree: TreeCycle, own: Cycle, message: str, refusal: str, group: str, placement: str = "") -> Member:
    """Turn a member's own cycle into what the tree's outcome makes of it."""
    if tree.error:
        text = own.error or tree.refusal
        failed = replace(own, outcome="unschedulable", node=-1, error=text)
        return Member(failed, text, group, placement, of_group=not own.error)
    if tree.placed and not refusal:
        return Member(own, message, group, placement)
    made = tree.preemption
    if made is not None and own.pod in made.assignment:
        return Member(nominated_member(made, own), tree.refusal, group, placement, of_group=True)
    out = replace(own, outcome="unschedulable", node=-1)
    return Member(out, message or refusal or tree.refusal, group, placement, of_group=not message)


def _entry(node: Trial) -> dict[str, Any]:
    """Write a group of a tree as it came out, its placement as far as one was tried."""
    group = node.info.group
    kind = "compositePodGroup" if isinstance(group, Composite) else "podGroup"
    status = "Error" if node.error else "Unschedulable" if node.refusal else "Success"
    return {
        kind: group.key,
        "placement": node.placement.name if node.placement is not None else None,
        "status": status,
        **({"message": node.refusal} if node.refusal else {}),
    }


def _nodes(trial: Trial | None) -> Iterator[Trial]:
    if trial is not None:
        yield trial
        for child in trial.children:
            yield from _nodes(child)
