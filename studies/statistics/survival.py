"""Time to proof: how many runs are still without one after so many seconds.

The Kaplan-Meier estimate with the proof as the event. A run that ends without a proof is censored when it
ended: all that is known is that its proof takes longer. At each moment t with d proofs among the r runs that
went on until then, the share without a proof is multiplied by 1 - d / r; a run that is censored at t still
counts in r there. Seconds are those of the whole run, reading, words and replay included. Runs that failed
have no time and are left out.

Source: Kaplan and Meier, "Nonparametric Estimation from Incomplete Observations", JASA 53 (1958).
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from ...models.study_report import Survival, SurvivalStep

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Result


def survival(results: Sequence[Result]) -> tuple[Survival, ...]:
    """Return the curve of each variant's runs of the optimal scheduler."""
    runs: dict[str, list[tuple[float, bool]]] = {}
    for result in results:
        if not result.failed and result.first.scheduler == "optimal":
            runs.setdefault(result.first.variant, []).append((result.first.seconds, result.proven))
    return tuple(_curve(variant, times) for variant, times in runs.items())


def _curve(variant: str, times: Sequence[tuple[float, bool]]) -> Survival:
    steps: list[SurvivalStep] = []
    left, at_risk = 1.0, len(times)
    for seconds, group in groupby(sorted(times), lambda time: time[0]):
        ended = [proven for _, proven in group]
        proofs = sum(ended)
        if proofs:
            left *= 1 - proofs / at_risk
            steps.append(SurvivalStep(seconds=seconds, at_risk=at_risk, proofs=proofs, unproven=left))
        at_risk -= len(ended)
    return Survival(
        variant=variant,
        n=len(times),
        proven=sum(proven for _, proven in times),
        median=next((step.seconds for step in steps if step.unproven <= 0.5), None),
        steps=tuple(steps),
    )
