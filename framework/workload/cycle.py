"""The workload cycle: a group is tried in every placement that comes into question, and bound in the best.

It is one attempt: either enough members find a node in one placement, or nobody is placed.  The cycle changes
nothing; `members` tells what it means for each pod.

Sources: KEP-5732, "Scheduling Algorithm Phases"; kube-scheduler schedule_one_podgroup.go (1.36 and later).
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..cycle.candidate_cost import Candidate as NodeVictims
from ..cycle.cycle import Cycle, complete
from ..cycle.preemption import Preemption
from ..cycle.runtime import framework_for
from ..rules.groups import Group
from ..vocabulary.message import NO_NODES
from ..vocabulary.status import Code, Status
from .attempt import Attempt, assume, attempt, walk
from .forms import Candidate, Form, Rank, form_for
from .placement import Placement, PodGroupInfo, info_of
from .preemption import GroupPreemption, preempt_for_group
from .prefilter import Room

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..index.cluster import Cluster
    from ..state.state import State

WAITING = "pod group is waiting for preemption to complete"


@dataclass(frozen=True, slots=True, eq=False)
class GroupCycle:
    """What happened to a group.

    Attributes
    ----------
    form : Form
    info : PodGroupInfo
    attempt : Attempt or None
        In the chosen placement; where no placement is feasible, in the first one.  None where there was none.
    refusal : str
        Why nobody is placed; empty where the attempt holds.
    error : bool
        Whether the cycle ended in an error.
    preemption : GroupPreemption or None
        The room that is made for the group.
    """

    form: Form
    info: PodGroupInfo
    attempt: Attempt | None
    refusal: str
    error: bool = False
    preemption: GroupPreemption | None = None

    @property
    def placed(self) -> bool:
        """Whether members are bound."""
        return not self.refusal

    @property
    def refusals(self) -> frozenset[str]:
        """The texts that are the group's, not a member's own."""
        return frozenset({self.refusal}) - {""}

    @property
    def constrained(self) -> bool:
        """Whether placements were made for a topology constraint."""
        return bool(self.info.group.topology_keys)


class Member(NamedTuple):
    """What a group's cycle means for one pod.

    Attributes
    ----------
    cycle : Cycle
        Its own.
    message : str
        Its condition's text if it is not bound.
    group : str
        Key of its PodGroup.
    placement : str
        Name of the placement that its own cycle was in; empty for the whole cluster, and for none.
    """

    cycle: Cycle
    message: str
    group: str
    placement: str


def schedule_group(
    cluster: "Cluster", state: "State", group: Group, ledger: "Ledger", gone: Collection[int] = ()
) -> GroupCycle | None:
    """Try to place a group; changes nothing.

    Parameters
    ----------
    cluster : Cluster
    state : State
        With the nominations that count.
    group : Group
        One that is in the active queue.
    ledger : Ledger
        The budgets at this moment.
    gone : collection of int
        Members that were placed and evicted: nobody evicted returns.

    Returns
    -------
    GroupCycle or None
        None where no member is left to be placed.
    """
    info = info_of(cluster, state, group, gone)
    if not info.pods:
        return None
    form = form_for(cluster, info.pods[0])
    if group.waits is not None:
        return GroupCycle(form, info, None, group.waits, error=True)
    if not cluster.n_nodes:
        return GroupCycle(form, info, None, NO_NODES, error=True)
    placements = generate(form, state, info, Placement("", np.ones(cluster.n_nodes, dtype=np.bool_)))
    if isinstance(placements, Status):
        return GroupCycle(form, info, None, placements.message, error=placements.code is Code.ERROR)
    found = feasible_attempts(form, state, info, placements, ledger)
    if not found:
        first = attempt(form, state, info, placements[0], ledger)
        return _refused(form, state, info, first, len(placements), ledger)
    failed = next((tried for tried in found if tried.error), None)
    if failed is not None:
        return GroupCycle(form, info, failed, failed.refusal, error=True)
    best = form.choose(state, info, [Candidate(tried.placement, tried.assignment) for tried in found])
    chosen = next(tried for tried in found if tried.placement is best.placement)
    return GroupCycle(form, info, chosen, "")


def generate(
    form: Form, state: "State", info: PodGroupInfo, within: Placement
) -> Sequence[Placement] | Status:
    """Return the placements of a group in a part of the cluster; a `Status` where it can be nowhere."""
    found: Sequence[Placement] = (Placement("", within.nodes),)
    for generator in form.generators:
        parts = generator.generate_placements(state, info, found)
        if isinstance(parts, Status):
            return parts
        found = parts
    nominated = [state.nominated[i] for i in info.pods if i in state.nominated]
    # The placement in which members are nominated comes first; the others keep their order.
    return sorted(found, key=lambda placement: not any(placement.nodes[n] for n in nominated))


def feasible_attempts(
    form: Form, state: "State", info: PodGroupInfo, placements: Sequence[Placement], ledger: "Ledger"
) -> list[Attempt]:
    """Return the attempts that hold and can win, by the placements' names; one alone after an error.

    A placement that cannot beat the best so far is left out.
    """
    enough = form.enough(placements)
    room = Room(form.cluster, state, info)
    needed = form.needed(info) - len(info.scheduled)
    promising = [
        (form.most(state, info, placement), k, placement)
        for k, placement in enumerate(placements)
        if not room.too_small(placement, needed)
    ]
    found: list[tuple[int, Attempt]] = []
    best: tuple[Rank, int] | None = None
    for most, k, placement in sorted(promising, key=lambda entry: entry[0], reverse=True):
        if best is not None and (most, -k) < best:
            continue
        tried = attempt(form, state, info, placement, ledger)
        if tried.error:
            return [tried]
        if not tried.refusal:
            found.append((k, tried))
            if len(found) >= enough:
                break
            rank = form.rank(state, info, Candidate(placement, tried.assignment))
            best = max(best, (rank, -k)) if best is not None else (rank, -k)
    return [tried for _, tried in sorted(found, key=lambda entry: entry[0])]


def _refused(
    form: Form, state: "State", info: PodGroupInfo, first: Attempt, n_placements: int, ledger: "Ledger"
) -> GroupCycle:
    """Write why no placement is feasible, and look for room."""
    refusal = first.refusal
    if form.counts_placements(info):
        refusal = f"0/{n_placements} placements are available, first placement status: {refusal}"
    if not form.preempts:
        return GroupCycle(form, info, first, refusal)
    made = preempt_for_group(form, state, info, ledger)
    if isinstance(made, str):
        return GroupCycle(form, info, first, f"{refusal}, {made}")
    return GroupCycle(form, info, first, WAITING, preemption=made)


def members(state: "State", cycle: GroupCycle, ledger: "Ledger") -> Iterator[Member]:
    """Tell what a group's cycle means for each of its pods, in the order in which they were tried.

    Each is given while its reasons can be read; `state` is that of the cycle, and is not changed.
    """
    tried = 0
    if cycle.attempt is not None:
        trial = state.copy()
        placement = cycle.attempt.placement
        if not assume(cycle.form, trial, cycle.info, placement):
            for own in walk(cycle.form, trial, cycle.info, placement, ledger):
                tried += 1
                complete(framework_for(cycle.form.cluster, own.pod), trial, own)
                message = own.message(cycle.form.cluster.n_nodes)
                kept = replace(own, allocations=cycle.attempt.cycles[tried - 1].allocations)
                yield _told(cycle, kept, message, placement.name)
    placed_in = "" if cycle.attempt is None else cycle.attempt.placement.name
    for i in cycle.info.pods[tried:]:
        yield _told(cycle, Cycle(i), "", placed_in)


def cycles_to_apply(cycle: GroupCycle) -> list[Cycle]:
    """Return the cycles by which a group's outcome happens: members are bound, nominated or left alone."""
    made = cycle.preemption
    if cycle.placed and cycle.attempt is not None:
        told = {own.pod for own in cycle.attempt.cycles}
        return [*cycle.attempt.cycles, *(Cycle(i) for i in cycle.info.pods if i not in told)]
    if made is not None:
        return [nominated_member(made, Cycle(i)) for i in made.assignment]
    return [Cycle(i) for i in cycle.info.pods]


def nominated_member(made: GroupPreemption, own: Cycle) -> Cycle:
    """Return a member's own cycle as its nomination."""
    node, victims = made.assignment[own.pod], made.serves[own.pod]
    chosen = NodeVictims(node, victims, len(made.violations.intersection(victims)))
    return replace(own, outcome="nominated", node=node, preemption=Preemption(chosen))


def _told(group: GroupCycle, own: Cycle, message: str, placement: str) -> Member:
    """Turn a member's own cycle into what the group's outcome makes of it."""
    key = group.info.group.key
    if group.error:
        text = own.error or group.refusal
        failed = replace(own, outcome="unschedulable", node=-1, error=text)
        return Member(failed, text, key, placement)
    if group.placed:
        return Member(own, message, key, placement)
    made = group.preemption
    if made is not None and own.pod in made.assignment:
        return Member(nominated_member(made, own), group.refusal, key, placement)
    out = replace(own, outcome="unschedulable", node=-1)
    return Member(out, message or group.refusal, key, placement)
