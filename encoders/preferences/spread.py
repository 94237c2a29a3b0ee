"""`--prefer spread`: pods evenly over nodes.

    spread = Σ over nodes of (pods on the node in the end)²

Sense: min. The square of a count is the sum of the odd numbers 1, 3, 5, … so each further pod of a node costs
more than the one before and a minimising solver fills the cheap steps first. The same measure of a finished
plan is `framework.measures.preferences.squared_load`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..terms import Terms

if TYPE_CHECKING:
    from ..context import Context


def encode(ctx: Context) -> None:
    """Register the tier `spread`."""
    problem = ctx.problem
    node_of = problem.state.node_of
    kept = np.bincount(node_of[list(problem.fixed_pods)], minlength=problem.cluster.n_nodes).tolist()
    load = Terms(constant=sum(k * k for k in kept))
    for node, base in enumerate(kept):
        victims = problem.victims_on.get(node, ())
        newcomers = ctx.placed(ctx.classes_on(node), [node])
        most = newcomers.high + sum(v.size for v in victims)
        steps = Terms()
        for k in range(most):
            literal = ctx.model.new_bool_var(f"load[{problem.cluster.node_names[node]},{base + k + 1}]")
            steps.add(literal, 1)
            load.add(literal, 1, 2 * (base + k) + 1)
        if most:
            staying = Terms(constant=sum(v.size for v in victims)).extend(ctx.evicted(victims), -1)
            ctx.model.add(steps.expression() >= newcomers.extend(staying).expression())
    ctx.goal("spread", "min", load)
