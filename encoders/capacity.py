"""Room on a node: every resource that a new pod asks for, and the pod slots.

    Σ request_r(c)·y[c,n] − Σ usage_r(v)·evicted[v] <= allocatable_r(n) − requested_r(n)

for each node n and resource r; for the slots with 1 in place of request and usage. A node that is
over-committed already refuses only pods that ask for the resource, so its row holds only while such a pod
lands there. Final counts suffice: the last pod bound sees all others and no victim leaves after its
preemptor.

Units: milli-CPU, bytes, whole units. Source: kube-scheduler 1.34.1 noderesources/fit.go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..framework.vocabulary import names
from .family import Family
from .linear import add_at_most
from .terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..framework.vocabulary.arrays import Ints
    from .context import Context
    from .problem import PodClass, Problem

name = names.NODE_RESOURCES_FIT


def applies(problem: Problem) -> bool:
    """Whether the family applies: always, since nodes have limits."""
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
        leaving = ctx.evicted(victims)
        requests = zip(*(c.request.tolist() for c in classes), strict=True)
        usages = zip(*(v.usage.tolist() for v in victims), strict=True) if victims else ((),) * len(resources)
        for r, (resource, request, usage) in enumerate(zip(resources, requests, usages, strict=True)):
            amounts = {
                c.index: amount
                for c, amount in zip(classes, request, strict=True)
                if amount > 0 and not (c.served and _served(c, r, node))
            }
            asking = [c for c in classes if c.index in amounts]
            if asking:
                terms = ctx.placed(asking, [node]).weighted(list(amounts.values()))
                terms.extend(leaving.weighted([-amount for amount in usage]))
                _row(ctx, node, asking, terms, int(problem.free_now[r, node]), f"{resource}[{node_name}]")
        slots = ctx.placed(classes, [node]).extend(leaving, -1)
        _row(ctx, node, classes, slots, int(problem.slots_now[node]), f"pods[{node_name}]")


def _row(ctx: Context, node: int, asking: Sequence[PodClass], terms: Terms, free: int, label: str) -> None:
    if node in ctx.bought and free > 0:  # a node that is not bought has no room
        terms, free = Terms().extend(terms).add(ctx.bought[node], 1, -free), 0
    args = (ctx.model, terms.coefficients, terms.variables, terms.uppers, free)
    if free >= 0:
        add_at_most(*args, name=label)
        return
    for cls in asking:
        add_at_most(*args, when=ctx.lands(cls, [node]), name=label)


def _served(cls: PodClass, r: int, node: int) -> bool:
    return r in cls.served and bool(cls.served[r][node])


def heedless(problem: Problem, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Whether a class takes room that its own profile does not check and another's does."""
    unasked = (problem.cluster.usage[cls.pod] > 0) & (cls.request == 0)
    return any((c.bounded and not cls.bounded) or bool((unasked & (c.request > 0)).any()) for c in others)


def limit(problem: Problem, cls: PodClass) -> Ints | None:
    """Bound the members on each node by slots and resources, with every possible victim gone."""
    if not cls.bounded:
        return None
    most: Ints = problem.most_slots
    for r, asked in enumerate(cls.request.tolist()):
        if asked > 0:
            fitting = np.maximum(problem.most_free[r], 0) // asked
            most = np.minimum(most, np.where(cls.served[r], most, fitting) if r in cls.served else fitting)
    return most


FAMILY = Family(name, applies, encode, limit=limit, heedless=heedless)
