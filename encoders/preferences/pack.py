"""`--prefer pack`: the fewest nodes in use.

    pack = number of nodes with a pod that stays or comes

Sense: min. The same measure of a finished plan is `framework.measures.preferences.nodes_in_use`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..terms import Terms

if TYPE_CHECKING:
    from ..context import Context


def encode(ctx: Context) -> None:
    """Register the tier `pack`."""
    problem = ctx.problem
    node_of = problem.state.node_of
    kept = np.bincount(node_of[list(problem.fixed_pods)], minlength=problem.cluster.n_nodes)
    used = Terms(constant=int((kept > 0).sum()))
    for node in np.flatnonzero(kept == 0).tolist():
        victims = problem.victims_on.get(node, ())
        if not ctx.classes_on(node) and not victims:
            continue
        literal = ctx.model.new_bool_var(f"used[{problem.cluster.node_names[node]}]")
        for cls in ctx.classes_on(node):
            lands = ctx.lands(cls, [node])
            if lands is not None:
                ctx.model.add_implication(lands, literal)
        for v in victims:
            ctx.model.add(v.size * literal >= v.size - ctx.evictions[v.index])
        used.add(literal, 1)
    ctx.goal("pack", "min", used)
