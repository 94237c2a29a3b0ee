"""kubestow: provably best scheduling rounds for Kubernetes, beside kube-scheduler's own.

    import kubestow as ks

    ks.compare("cluster.json.gz")
    ks.why("cluster.json.gz", "shop/web-5")

docs/python.md has the rest. The package imports nothing by itself: each name is brought when it is first
used, so ``import kubestow`` and ``kubestow --help`` are instant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api.advice import Advice
    from .api.builders.nodes import node
    from .api.builders.pods import pod
    from .api.builders.policies import budget, composite, group, namespace, priority_class
    from .api.changes import consolidate, drain, provision, rebalance, suggest, what_if
    from .api.clusters import Cluster, cluster, generate, live, load
    from .api.constraints import constraint
    from .api.results import Answer, Compared, Fitted, Simulated, Solution, Studied, StudiedFolder
    from .api.rounds import compare, explain, fit, greedy, simulate, solve, why
    from .api.studies import Study
    from .models.errors import KubestowError

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "Answer",
    "Cluster",
    "Compared",
    "Fitted",
    "KubestowError",
    "Simulated",
    "Solution",
    "Studied",
    "StudiedFolder",
    "Study",
    "budget",
    "cluster",
    "compare",
    "composite",
    "consolidate",
    "constraint",
    "drain",
    "explain",
    "fit",
    "generate",
    "greedy",
    "group",
    "live",
    "load",
    "namespace",
    "node",
    "pod",
    "priority_class",
    "provision",
    "rebalance",
    "simulate",
    "solve",
    "suggest",
    "what_if",
    "why",
]

_HOMES = {
    "api.advice": ("Advice",),
    "api.builders.nodes": ("node",),
    "api.builders.pods": ("pod",),
    "api.builders.policies": ("budget", "composite", "group", "namespace", "priority_class"),
    "api.changes": ("consolidate", "drain", "provision", "rebalance", "suggest", "what_if"),
    "api.clusters": ("Cluster", "cluster", "generate", "live", "load"),
    "api.constraints": ("constraint",),
    "api.results": ("Answer", "Compared", "Fitted", "Simulated", "Solution", "Studied", "StudiedFolder"),
    "api.rounds": ("compare", "explain", "fit", "greedy", "simulate", "solve", "why"),
    "api.studies": ("Study",),
    "models.errors": ("KubestowError",),
}


def __getattr__(name: str) -> Any:
    """Bring a name of the interface from the module that has it."""
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            found = globals()[name] = getattr(import_module(f".{home}", __name__), name)
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the names of the interface, whether they have been brought yet or not."""
    return sorted({*globals(), *__all__})
