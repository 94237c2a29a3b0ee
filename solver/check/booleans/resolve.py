"""Whether any plan places a pod, asked once more of a model of plain Booleans.

The model is wider than the set of plans: what it cannot do, no plan can. A solution is put in order and
replayed; a plan that comes out of it refutes the claim that there is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ....framework.dra.allocation import Pick, write
from ....framework.dra.index import claim_keys, device_index
from ....framework.state.moves import Bind, Deallocate, Leave, Mark
from ....framework.state.state import State
from ...plans.device_allocations import newest_devices
from ...plans.objective import valuate
from ...plans.outcome import Outcome
from ...plans.replay import follow, inadmissible
from .devices import add_devices
from .model import Booleans, TooLarge
from .pods import add_pods

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ortools.sat.python import cp_model

    from ....framework.dra.allocation import Allocation
    from ....framework.index.cluster import Cluster
    from ....framework.state.moves import Move
    from .claim import Claim

UNSEEN = frozenset({"topologySpread", "podAffinity", "podAntiAffinity", "volumeClaim", "minGroupCount"})
"""Kinds of rules that have no rows, or not all of them."""


def solved_again(cluster: Cluster) -> bool | None:
    """Whether an admissible plan places a pod of `Snapshot.asked`; None where the model leaves it open."""
    try:
        made = Booleans(cluster)
        add_pods(made)
        claims = add_devices(made)
    except TooLarge:
        return None
    asked = [i for i in cluster.pending if i in cluster.asked]
    made.model.add(made.placed(asked) >= 1)
    others = [i for i in cluster.pending if i not in cluster.asked]
    found = made.solve(few=[made.placed(others), *made.gone.values()])
    if found is None or found is False:
        return found
    outcome = _outcome(made, claims, found)
    return True if any(_is_plan(cluster, outcome, order) for order in _orders(cluster, outcome)) else None


def _outcome(made: Booleans, claims: Sequence[Claim], found: cp_model.CpSolver) -> Outcome:
    """Read a solution: who is where, who leaves, which claims have which devices."""
    placed = {i: n for (i, n), at in made.at.items() if found.value(at)}
    victims = dict.fromkeys(v for v, gone in made.gone.items() if found.value(gone))
    given: dict[str, Allocation] = {}
    for claim in claims:
        for n, home in claim.home.items():
            if found.value(home):
                given[claim.key] = _allocation(made.cluster, claim, n, found)
    return Outcome((), placed, {}, victims, given, admissible=True)


def _allocation(cluster: Cluster, claim: Claim, n: int, found: cp_model.CpSolver) -> Allocation:
    index = device_index(cluster)
    assert index is not None
    newest = {tuple(id_): device for id_, device in newest_devices(index).items()}
    wants = {want.result: want for request in index.specs.of(claim.asked).requests for want in request.wants}
    picks = [
        Pick(wants[name], newest[id_], claim.choices[name].amounts.get(id_))
        for name in claim.choices
        for (taker, id_), times in claim.has.items()
        if taker == name
        for _ in range(found.value(times))
    ]
    return write(claim.key, picks, cluster.node_names[n])


def _orders(cluster: Cluster, outcome: Outcome) -> Iterator[tuple[Move, ...]]:
    """Yield the steps in a few orders: whoever is asked about comes last, or first."""
    keys, held = claim_keys(cluster), State.initial(cluster).claims
    idle = (
        []
        if held is None
        else [key for key in outcome.allocations if key in held.allocations and held.idle(key)]
    )
    begun: list[Move] = [Deallocate(keys.index(key)) for key in idle]
    for v in outcome.victims:
        begun += [Leave(v)] if cluster.pods[v].terminating else [Mark(v), Leave(v)]
    for asked_last in (True, False):
        comers = sorted(
            (i for i in cluster.pending if i in outcome.placed),
            key=lambda i: (i in cluster.asked) == asked_last,
        )
        yield *begun, *(Bind(i, outcome.placed[i]) for i in comers)


def _is_plan(cluster: Cluster, outcome: Outcome, moves: tuple[Move, ...]) -> bool:
    """Whether steps are a plan: the framework replays them, and no rule of a plan is broken."""
    if follow(cluster, moves, outcome.allocations).fault or any(True for _ in inadmissible(cluster, moves)):
        return False
    return valuate(cluster, replace(outcome, moves=moves)).guarded
