"""One cycle of a group: generate placements, try all of them, bind in the best, or make room.

Source: kube-scheduler 1.36.2 schedule_one_podgroup.go (podGroupSchedulingPlacementAlgorithm, podGroupCycle).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...vocabulary.status import Code, Status
from ..placement import Placement, PodGroupInfo
from ..variants import Candidate
from .attempt import Attempt, Verdict, attempt, take_off
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
        return _make_room(variant, state, info, ledger, placements.message, ())
    trial = take_off(state, info)
    attempts: list[Attempt] = []
    for placement in placements:
        tried = attempt(variant, trial, info, placement, ledger, post=True)
        attempts.append(tried)
        if tried.verdict is Verdict.ERROR:
            return TriedCycle(
                variant=variant,
                info=info,
                refusal=tried.error,
                error=True,
                result=Result.ERROR,
                attempts=tuple(attempts),
                chosen=tried,
            )
    feasible = [tried for tried in attempts if tried.feasible]
    if not feasible:
        text = unavailable(variant, len(placements))
        return _make_room(variant, state, info, ledger, text, tuple(attempts))
    candidates = [Candidate(tried.placement, tried.assignment) for tried in feasible]
    best = variant.choose(state, info, candidates)
    chosen = feasible[candidates.index(best)]
    waits = chosen.verdict is Verdict.WAITING
    result, text = (Result.WAITING, WAITING) if waits else (Result.SCHEDULED, "")
    return TriedCycle(
        variant=variant,
        info=info,
        refusal=text,
        error=False,
        result=result,
        attempts=tuple(attempts),
        chosen=chosen,
    )


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
    attempts: tuple[Attempt, ...],
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
        attempts=attempts,
        chosen=attempts[0] if attempts else None,
        room=room,
    )
