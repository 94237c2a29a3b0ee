"""One cycle of a group: generate placements, try all of them, bind in the best, or make room.

Where members are alike, those that find a node are counted (`alike`), and only the placement whose members'
outcomes matter is tried member by member.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go (podGroupSchedulingPlacementAlgorithm, podGroupCycle).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...vocabulary.status import Code, Status
from ..placement import Placement, PodGroupInfo
from ..variants import Candidate
from .alike import Alike
from .attempt import Answer, Attempt, Count, Verdict, attempt, take_off
from .outcome import Result, TriedCycle
from .preemption import make_room
from .texts import WAITING, unavailable

if TYPE_CHECKING:
    from ...cycle.budget_ledger import Ledger
    from ...state.state import State
    from .variant import V1_36


def try_group(variant: "V1_36", state: "State", info: PodGroupInfo, ledger: "Ledger") -> TriedCycle:
    """Try to place a group of which at least one member is to be placed; changes nothing."""
    placements = _generate(variant, state, info)
    if isinstance(placements, Status):
        if placements.code is Code.ERROR:
            return TriedCycle(
                variant=variant, info=info, refusal=placements.message, error=True, result=Result.ERROR
            )
        return _make_room(variant, state, info, ledger, placements.message, (), None)
    trial = take_off(state, info)
    # A member that may look for victims sees more than room; one placement is tried member by member anyway.
    counted = len(placements) > 1 and variant.ineligible(info)
    alike = Alike.of(variant, trial, info) if counted else None
    answers: list[Answer] = []
    for placement in placements:
        answer = _count(alike, trial, info, placement) or attempt(
            variant, trial, info, placement, ledger, post=True
        )
        answers.append(answer)
        if isinstance(answer, Attempt) and answer.verdict is Verdict.ERROR:
            return TriedCycle(
                variant=variant,
                info=info,
                refusal=answer.error,
                error=True,
                result=Result.ERROR,
                answers=tuple(answers),
                chosen=answer,
            )
    feasible = [answer for answer in answers if answer.feasible]
    best = answers[0]
    if feasible:
        candidates = [Candidate(answer.placement, answer.assignment) for answer in feasible]
        best = feasible[candidates.index(variant.choose(state, info, candidates))]
    chosen = best
    if not isinstance(chosen, Attempt):
        chosen = attempt(variant, trial, info, best.placement, ledger, post=True)
    if not feasible:
        text = unavailable(variant, len(placements))
        return _make_room(variant, state, info, ledger, text, tuple(answers), chosen)
    waits = chosen.verdict is Verdict.WAITING
    result, text = (Result.WAITING, WAITING) if waits else (Result.SCHEDULED, "")
    return TriedCycle(
        variant=variant,
        info=info,
        refusal=text,
        error=False,
        result=result,
        answers=tuple(answers),
        chosen=chosen,
    )


def _count(alike: Alike | None, trial: "State", info: PodGroupInfo, placement: Placement) -> Count | None:
    """Count the members that find a node in a placement; None where they have to be tried."""
    found = None if alike is None else alike.count(trial, placement.nodes)
    if alike is None or found is None:
        return None
    verdict = Verdict.SUCCESS if alike.enough(found) else Verdict.UNSCHEDULABLE
    return Count(placement, verdict, info.pods[:found])


def _generate(variant: "V1_36", state: "State", info: PodGroupInfo) -> Sequence[Placement] | Status:
    """Return the placements by their names; a status where there is none."""
    found: Sequence[Placement] = (Placement("", np.ones(variant.cluster.n_nodes, dtype=np.bool_)),)
    for generator in variant.generators if variant.by_placement else ():
        parts = generator.generate_placements(state, info, found)
        if isinstance(parts, Status):
            return parts
        found = parts
    return found


def _make_room(
    variant: "V1_36",
    state: "State",
    info: PodGroupInfo,
    ledger: "Ledger",
    text: str,
    answers: tuple[Answer, ...],
    chosen: Attempt | None,
) -> TriedCycle:
    """Look for victims of the group as a whole, where that is on."""
    room = make_room(variant, state, info, ledger) if variant.preempts_as_one else None
    result = Result.UNSCHEDULABLE
    if room is not None and room.code is Code.SUCCESS:
        result = Result.WAITING
    elif room is not None and room.code is Code.ERROR:
        result, text = Result.ERROR, room.message
    elif room is not None:
        text = f"{text}, {room.message}"
    return TriedCycle(
        variant=variant,
        info=info,
        refusal=text,
        error=result is Result.ERROR,
        result=result,
        answers=answers,
        chosen=chosen,
        room=room,
    )
