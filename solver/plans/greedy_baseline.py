"""The greedy baseline's run as an outcome that can be valued, replayed and compared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...framework.runs.greedy import run_to_quiescence
from ...framework.state.state import State
from ...models.progress import Watch, unwatched
from .apply import new_allocations
from .objective import ObjectiveVector, valuate
from .outcome import Outcome
from .replay import inadmissible

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster


def greedy_outcome(
    cluster: Cluster, prefer: str = "none", watch: Watch = unwatched
) -> tuple[Outcome, ObjectiveVector]:
    """Run kube-scheduler's algorithm until nothing changes, and judge whether its outcome is admissible."""
    run = run_to_quiescence(cluster, watch)
    outcome = Outcome(
        moves=tuple(run.steps),
        placed=dict(run.node_of_new),
        nominations={i: victims for i, (_, victims) in run.nominations.items() if i in run.node_of_new},
        victims={victim: preemptor for victim, _, preemptor in run.victims},
        waiting=dict(run.state.nominated),
        allocations=new_allocations(State.initial(cluster), run.state),
    )
    valuation = valuate(cluster, outcome, prefer, end=run.state)
    admissible = valuation.guarded and not any(True for _ in inadmissible(cluster, outcome.moves))
    return replace(outcome, admissible=admissible), valuation
