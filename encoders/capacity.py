"""Room on a node: every resource that a new pod asks for, and the pod slots.

    Σ request_r(c)·y[c,n] − Σ usage_r(v)·evicted[v] <= allocatable_r(n) − requested_r(n)

for each node n and resource r; for the slots with 1 in place of request and usage.  A node that is
over-committed already refuses only pods that ask for the resource, so its row holds only while such a pod
lands there.  Final counts suffice: the last pod bound sees all others and no victim leaves after its
preemptor.

Units: milli-CPU, bytes, whole units.  Source: kube-scheduler 1.34.1 noderesources/fit.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..framework import names
from .context import Terms
from .linear import add_at_most

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .context import Context
    from .problem import PodClass, Problem

name = names.NODE_RESOURCES_FIT


def applies(problem: Problem) -> bool:
    """Every round has nodes with limits."""
    return bool(problem.classes)


def encode(ctx: Context) -> None:
    """Add the capacity rows of every node that a pending pod can reach."""
    problem = ctx.problem
    resources = problem.cluster.resources
    for node, node_name in enumerate(problem.cluster.node_names):
        classes = problem.asking(name, ctx.classes_on(node))
        if not classes:
            continue
        victims = problem.victims_on.get(node, ())
        for r, resource in enumerate(resources):
            asking = [c for c in classes if c.request[r] > 0 and not (c.served and _served(c, r, node))]
            if asking:
                terms = Terms()
                for c in asking:
                    terms.extend(ctx.placed([c], [node]), int(c.request[r]))
                for v in victims:
                    terms.extend(ctx.evicted([v]), -int(v.usage[r]))
                _row(ctx, node, asking, terms, int(problem.free_now[r, node]), f"{resource}[{node_name}]")
        slots = ctx.placed(classes, [node]).extend(ctx.evicted(victims), -1)
        _row(ctx, node, classes, slots, int(problem.slots_now[node]), f"pods[{node_name}]")


def _row(ctx: Context, node: int, asking: Sequence[PodClass], terms: Terms, free: int, label: str) -> None:
    args = (ctx.model, terms.coefficients, terms.variables, terms.spans, free)
    if free >= 0:
        add_at_most(*args, name=label)
        return
    for cls in asking:
        add_at_most(*args, when=ctx.lands(cls, [node]), name=label)


def _served(cls: PodClass, r: int, node: int) -> bool:
    return r in cls.served and bool(cls.served[r][node])
