"""One run of the group algorithm in one placement: all members one after another, each in full.

A member that finds a node, or a node where pods could make room for it, is assumed there and asks Permit; the
others are passed over.  Nobody is moved again, and nobody is left out because too few are left.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go (podGroupSchedulingDefaultAlgorithm).
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING

from ...cycle.cycle import Cycle, find_node, run_post_filter
from ...cycle.runtime import framework_for
from ...vocabulary.default_plugins import FILTER, PRE_FILTER, PRE_SCORE, SCORE
from ..placement import Placement, PodGroupInfo

if TYPE_CHECKING:
    from ...cycle.budget_ledger import Ledger
    from ...state.state import State
    from .variant import V1_36


class Permit(Enum):
    """What GangScheduling says once a member is assumed: enough stand, or not yet."""

    SUCCESS = "Success"
    WAIT = "Wait"


class Verdict(Enum):
    """What a run of the algorithm says about the group."""

    SUCCESS = "Success"
    WAITING = "Waiting"
    UNSCHEDULABLE = "Unschedulable"
    ERROR = "Error"


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """One member in one placement.

    Attributes
    ----------
    cycle : Cycle
        A member that needs room to be made is `nominated` in it.
    permit : Permit or None
        None where the member fits nowhere.
    """

    cycle: Cycle
    permit: Permit | None

    @property
    def preempts(self) -> bool:
        """Whether pods have to leave for the member."""
        return self.cycle.outcome == "nominated"


@dataclass(frozen=True, slots=True, eq=False)
class Answer(ABC):
    """What is known of a group in a placement."""

    placement: Placement
    verdict: Verdict

    @property
    @abstractmethod
    def assignment(self) -> dict[int, int]:
        """The members that were assumed, with their nodes."""

    @property
    def feasible(self) -> bool:
        """Whether the placement takes the group, at once or when its members' victims have left."""
        return self.verdict in (Verdict.SUCCESS, Verdict.WAITING)

    @property
    def error(self) -> str:
        """The group's error; empty for none."""
        return ""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt(Answer):
    """What became of a group in a placement, member by member."""

    tried: tuple[Tried, ...]

    @property
    def assignment(self) -> dict[int, int]:
        """The members that were assumed, with their nodes."""
        return {t.cycle.pod: t.cycle.node for t in self.tried if t.permit is not None}

    @property
    def error(self) -> str:
        """The group's error; empty for none."""
        if self.verdict is not Verdict.ERROR:
            return ""
        return f"failed to schedule other pod from a pod group: {self.tried[-1].cycle.error}"


@dataclass(frozen=True, slots=True, eq=False)
class Count(Answer):
    """What would become of a group in a placement where members were only counted (`Alike`)."""

    members: tuple[int, ...]

    @property
    def assignment(self) -> dict[int, int]:
        """The members that would be assumed; on which nodes is not known, and no placement's score asks."""
        return dict.fromkeys(self.members, -1)


def take_off(state: "State", info: PodGroupInfo) -> "State":
    """Return a copy of a state in which the group's members are in flight."""
    trial = state.copy()
    trial.fly((*info.pods, *info.group.deleted))
    return trial


def walk(
    variant: "V1_36",
    trial: "State",
    info: PodGroupInfo,
    placement: Placement,
    ledger: "Ledger",
    *,
    post: bool,
) -> Iterator[Tried]:
    """Try the members one after another and assume those that find a node.

    Each is given before it is assumed, so that its reasons can be read from the state.

    Parameters
    ----------
    variant : V1_36
    trial : State
        With the members in flight; changed.
    info : PodGroupInfo
    placement : Placement
    ledger : Ledger
    post : bool
        Whether PostFilter runs.
    """
    cluster = variant.cluster
    standing, ledger = len(info.scheduled), ledger.trial()
    failed: dict[int, tuple[int, int, Cycle]] = {}
    for i in info.pods:
        cls, moment = cluster.pods[i].cls, (trial.version, trial.nominations_version)
        known = failed.get(cls)
        if known is not None and known[:2] == moment and i not in trial.nominated:
            cycle = replace(known[2], pod=i)
        else:
            cycle = _find(variant, trial, info, placement, ledger, i, post=post)
        if cycle.error or cycle.node < 0:
            yield Tried(cycle, None)
            if cycle.error:
                return
            if i not in trial.nominated:
                failed[cls] = (*moment, cycle)
            continue
        standing += 1
        ledger.count(cycle.victims)
        yield Tried(cycle, Permit.SUCCESS if standing >= info.group.quorum else Permit.WAIT)
        for j in cleared_by(trial, cycle):
            trial.withdraw(j)
        trial.place(i, cycle.node, cycle.allocations)


def _find(
    variant: "V1_36",
    trial: "State",
    info: PodGroupInfo,
    placement: Placement,
    ledger: "Ledger",
    i: int,
    *,
    post: bool,
) -> Cycle:
    """Find a node for a member, where PostFilter runs by making room."""
    framework = framework_for(variant.cluster, i)
    cycle = find_node(framework, trial, i, placement.nodes)
    if post and cycle.outcome != "bound" and not cycle.error:
        run_post_filter(framework, trial, cycle, ledger, ineligible=variant.ineligible(info))
        if cycle.outcome == "nominated":
            cycle.allocations = framework.reserve(trial, i, cycle.node)
    return cycle


def cleared_by(state: "State", cycle: Cycle, flying: Collection[int] = ()) -> list[int]:
    """Return the pods that lose their nomination to a member that makes room: less important ones there.

    Parameters
    ----------
    state : State
    cycle : Cycle
        The member's.
    flying : collection of int
        The group's members: in flight they are empty pods of priority 0.
    """
    if all(state.terminating[j] for j in cycle.victims):
        return []
    pods, i = state.cluster.pods, cycle.pod
    there = (j for j in state.nominations.on(cycle.node) if j != i)
    return [j for j in there if (0 if j in flying else pods[j].priority) < pods[i].priority]


def attempt(
    variant: "V1_36",
    trial: "State",
    info: PodGroupInfo,
    placement: Placement,
    ledger: "Ledger",
    *,
    post: bool,
) -> Attempt:
    """Run the algorithm in a placement; where pods are is as before in the end."""
    tried = tuple(walk(variant, trial, info, placement, ledger, post=post))
    for member in reversed(tried):
        if member.permit is not None:
            trial.take_back(member.cycle.pod)
    verdict, preempts = Verdict.UNSCHEDULABLE, False
    for member in tried:
        preempts |= member.preempts
        if member.cycle.error:
            verdict = Verdict.ERROR
        elif member.permit is Permit.SUCCESS:
            verdict = Verdict.WAITING if preempts else Verdict.SUCCESS
    return Attempt(placement, verdict, tried)


def takes_group(
    variant: "V1_36",
    trial: "State",
    info: PodGroupInfo,
    placement: Placement,
    ledger: "Ledger",
    *,
    steady: bool,
) -> bool:
    """Whether a run without PostFilter succeeds; where pods are is as before in the end.

    The run ends as soon as the answer is known: once too few members are left, or, where no member's cycle
    can end in an error (`steady`), once Permit succeeds.
    """
    placed: list[int] = []
    permitted = False
    missing = info.group.quorum - len(info.scheduled)
    left = len(info.pods)
    for member in walk(variant, trial, info, placement, ledger, post=False):
        left -= 1
        if member.cycle.error:
            permitted = False
            break
        if member.permit is None:
            if not permitted and len(placed) + left < missing:
                break
            continue
        permitted |= member.permit is Permit.SUCCESS
        if permitted and steady:
            break  # the member is not assumed yet
        placed.append(member.cycle.pod)
    for i in reversed(placed):
        trial.take_back(i)
    return permitted


def is_steady(variant: "V1_36", trial: "State", info: PodGroupInfo) -> bool:
    """Whether no member's cycle can end in an error, wherever pods are."""
    return trial.claims is None and all(cannot_fail(variant, trial, i) for i, *_ in info.pod_sets)


def cannot_fail(variant: "V1_36", trial: "State", i: int) -> bool:
    """Whether no cycle of pod i can end in an error, wherever pods are, but for one about devices."""
    framework, affinity = framework_for(variant.cluster, i), variant.cluster.pods[i].pod.spec.affinity
    profile = framework.profile
    return (
        (affinity is None or affinity.node_affinity is None)
        and not profile.lost(FILTER, PRE_FILTER)
        and not profile.lost(SCORE, PRE_SCORE)
        and framework.binding_error(trial, i) is None
    )
