"""What became of a group in a cycle of 1.36: for the group, for each member, and as a trace writes it.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go (submitPodGroupAlgorithmResult).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from ...cycle.candidate_cost import Candidate as NodeVictims
from ...cycle.cycle import Cycle, complete
from ...cycle.preemption import Preemption
from ...cycle.runtime import framework_for
from ...state.state import NO_ALLOCATIONS
from ..outcome import GroupCycle, Member
from ..variants import Candidate
from .attempt import Answer, Attempt, Tried, cleared_by, take_off, walk
from .preemption import Room
from .texts import NOT_PERMITTED, UNSCHEDULABLE
from .variant import V1_36

if TYPE_CHECKING:
    from ...cycle.budget_ledger import Ledger
    from ...cycle.filter_result import FilterResult
    from ...state.state import State


class Result(Enum):
    """What a cycle means for the group."""

    SCHEDULED = "scheduled"
    WAITING = "waitingOnPreemption"
    UNSCHEDULABLE = "unschedulable"
    ERROR = "error"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TriedCycle(GroupCycle):
    """What happened to a group.

    Attributes
    ----------
    result : Result
    answers : tuple of Answer
        One for each placement that was tried, by name.
    chosen : Attempt or None
        The one that counts for the members: where no placement is feasible the first one, None where there
        was none.
    room : Room or None
        What came of looking for victims of the group as a whole; None where nobody looked.
    """

    variant: V1_36
    result: Result
    answers: tuple[Answer, ...] = ()
    chosen: Attempt | None = None
    room: Room | None = None

    @property
    def placement(self) -> str | None:
        """The name of the attempt's placement."""
        return None if self.chosen is None else self.chosen.placement.name

    def departures(self) -> Iterator[tuple[int, int]]:
        """Return each member's victims with it, those of the group with its first member."""
        for tried in self._tried:
            yield from ((j, tried.cycle.pod) for j in tried.cycle.victims)
        yield from ((j, self.info.pods[0]) for j in self._victims)

    @property
    def _tried(self) -> tuple[Tried, ...]:
        return () if self.chosen is None else self.chosen.tried

    @property
    def _victims(self) -> tuple[int, ...]:
        return () if self.room is None else self.room.victims

    # -- the members --

    def members(self, state: "State", ledger: "Ledger") -> Iterator[Member]:
        """Tell what the cycle means for each pod, in the order in which they were tried."""
        done = 0
        for tried, message in self._seen(self.chosen, state, ledger):
            done += 1
            final, of_group = self._final(tried)
            yield self.told(final, of_group or message, of_group=bool(of_group))
        for i in self.info.pods[done:]:
            final = self._untried(i)
            yield self.told(final, self.refusal, of_group=True)

    def outcomes(self) -> Sequence[Cycle]:
        """Return what happens to each member, in the order in which they were tried."""
        tried = [self._final(member)[0] for member in self._tried]
        return [*tried, *(self._untried(i) for i in self.info.pods[len(tried) :])]

    def _seen(self, answer: Answer | None, state: "State", ledger: "Ledger") -> Iterator[tuple[Tried, str]]:
        """Walk a placement again, and read every member's text while its reasons stand.

        Members that were refused alike share the result of their filters, and hear the same.
        """
        if answer is None:
            return
        told: dict[FilterResult, str] = {}
        cluster, trial = self.variant.cluster, take_off(state, self.info)
        for tried in walk(self.variant, trial, self.info, answer.placement, ledger, post=True):
            complete(framework_for(cluster, tried.cycle.pod), trial, tried.cycle)
            result, refused = tried.cycle.result, tried.cycle.node < 0
            if result is None or not refused:
                yield tried, tried.cycle.message(cluster.n_nodes)
                continue
            if result not in told:
                told[result] = tried.cycle.message(cluster.n_nodes)
            yield tried, told[result]

    def _final(self, tried: Tried) -> tuple[Cycle, str]:
        """Return what the group's outcome makes of a member, and its text where it is the group's."""
        own = tried.cycle
        if self.result is Result.ERROR:
            text = own.error or self.refusal
            failed = replace(own, outcome="unschedulable", node=-1, error=text, keeps_nomination=False)
            return failed, "" if own.error else self.refusal
        if tried.permit is None or self.result is Result.SCHEDULED:
            return own, ""
        if self.result is Result.UNSCHEDULABLE:
            left = replace(own, outcome="unschedulable", node=-1, keeps_nomination=False)
            return replace(left, allocations=NO_ALLOCATIONS), NOT_PERMITTED
        waiting = replace(own, outcome="nominated", allocations=NO_ALLOCATIONS)
        if tried.preempts:
            return waiting, ""
        return replace(waiting, preemption=Preemption(NodeVictims(own.node, (), 0))), self.refusal

    def _untried(self, i: int) -> Cycle:
        """Return the cycle of a member that was not tried: without a placement it keeps its nomination."""
        error = self.refusal if self.error else ""
        return Cycle(i, error=error, keeps_nomination=not self.error)

    def happen(self, state: "State", ledger: "Ledger") -> Mapping[int, Sequence[int]]:
        """Let the outcome happen: victims terminate even where the group is not placed after all.

        A member that loses its nomination to another one ends without any: the loss is written last.
        """
        cleared: dict[int, Sequence[int]] = {}
        for tried in self._tried:
            if tried.preempts:
                lost = cleared_by(state, tried.cycle, self.info.pods)
                cleared[tried.cycle.pod] = lost
                for j in lost:
                    state.withdraw(j)
        fresh = dict.fromkeys(j for j, _ in self.departures() if not state.terminating[j])
        for j in fresh:
            state.mark(j)
        ledger.pay(j for j in fresh if state.cluster.pods[j].guard is not None)
        for own in self.outcomes():
            if own.outcome == "bound":
                state.withdraw(own.pod)
                state.place(own.pod, own.node, own.allocations)
            elif own.outcome == "nominated":
                state.nominate(own.pod, own.node)
            elif not own.keeps_nomination:
                state.withdraw(own.pod)
            if own.deallocated:
                state.deallocate(own.deallocated)
        for j in (j for lost in cleared.values() for j in lost):
            state.withdraw(j)
        return cleared

    # -- the group's entry in a trace --

    def document(self, state: "State", ledger: "Ledger") -> dict[str, Any] | None:
        """Write every placement that was tried, with the members' nodes there."""
        cluster = self.variant.cluster
        placed = self.result is Result.SCHEDULED or (self.result is Result.WAITING and self.room is None)
        by_placement = self.variant.by_placement
        document: dict[str, Any] = {
            "podGroup": self.info.group.key,
            "pods": [cluster.pods[i].key for i in self.info.pods],
            "placements": self._placements(state, ledger) if by_placement else [],
            "placement": self.placement if placed and by_placement else None,
            "result": self.result.value,
        }
        if self.result is not Result.SCHEDULED:
            document["reason"] = "SchedulerError" if self.error else "Unschedulable"
            document["message"] = self.refusal
        if self.room is not None:
            document["preemption"] = {
                "code": self.room.code.text,
                **({"message": self.room.message} if self.room.message else {}),
                "tries": self.room.tries,
            }
        return {**document, "victims": [cluster.pods[j].key for j in self._victims]}

    def _placements(self, state: "State", ledger: "Ledger") -> list[dict[str, Any]]:
        cluster, names = self.variant.cluster, self.variant.cluster.node_names
        found: list[dict[str, Any]] = []
        for answer in self.answers:
            inside = [name for name, there in zip(names, answer.placement.nodes, strict=True) if there]
            document: dict[str, Any] = {
                "name": answer.placement.name,
                "nodes": inside,
                "status": answer.verdict.value,
                "members": [
                    _member(cluster.pods[tried.cycle.pod].key, names, tried, message)
                    for tried, message in self._seen(answer, state, ledger)
                ],
            }
            if not answer.feasible:
                document["message"] = answer.error or UNSCHEDULABLE
            found.append(document)
        feasible = [k for k, answer in enumerate(self.answers) if answer.feasible]
        if len(feasible) > 1 and not self.error:
            candidates = [Candidate(self.answers[k].placement, self.answers[k].assignment) for k in feasible]
            scored = self.variant.scores(state, self.info, candidates)
            for k, scores in zip(feasible, scored, strict=True):
                found[k] |= {"scores": scores, "total": sum(scores.values())}
        return found


def _member(pod: str, names: Sequence[str], tried: Tried, message: str) -> dict[str, Any]:
    own = tried.cycle
    document: dict[str, Any] = {"pod": pod, "node": names[own.node] if own.node >= 0 else None}
    if tried.permit is not None:
        document["permit"] = tried.permit.value
    if tried.preempts:
        document["requiresPreemption"] = True
    return {**document, **({"message": message} if message else {})}
