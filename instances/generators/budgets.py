"""A full cluster, budgets on what runs, and pods of a higher priority that need its room."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .bare_round import BareRound, Manifest

_GUARD = 250


def protect(made: BareRound, budgeted: float, allowed: float, guarded: float) -> None:
    """Give apps that run budgets, and some of them a guard beyond the budget.

    Each app that runs has a PodDisruptionBudget with probability `budgeted`; it keeps all of its pods but the
    share `allowed`, rounded down. With probability `guarded` its pods have a priority class that lets budgets
    be broken only for pods of a priority of 250 or more, which is the third level of waiting pods.
    """
    for app, running in sorted(Counter(pod["metadata"]["labels"]["app"] for pod in made.running).items()):
        selector = {"matchLabels": {"app": app}}
        if made.rng.random() < budgeted:
            keep = running - int(running * allowed)
            made.others.append(
                {
                    "apiVersion": "policy/v1",
                    "kind": "PodDisruptionBudget",
                    "metadata": {"name": app, "namespace": "default"},
                    "spec": {"minAvailable": keep, "selector": selector},
                }
            )
        if made.rng.random() < guarded:
            made.others.append(_guard(app))
            for pod in made.running:
                if pod["metadata"]["labels"]["app"] == app:
                    del pod["spec"]["priority"]
                    pod["spec"]["priorityClassName"] = f"guarded-{app}"


def _guard(app: str) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"guarded-{app}"},
        "value": 0,
        "allowDisruptionByPriorityGreaterThanOrEqual": _GUARD,
    }
