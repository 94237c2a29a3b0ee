"""Host ports: two pods whose ports conflict never share a node.

    Σ lands(c, n) <= 1                        over classes c that all conflict with each other
    y[c,n] <= 1                               for a class with any host port (`PodClass.limit`)
    lands(c, n) -> every conflicting running pod of n leaves

Source: kube-scheduler 1.34.1 nodeports/node_ports.go.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..framework.index.ports import conflict
from ..framework.vocabulary import names
from .cliques import cliques
from .family import Family, unfiltered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..framework.vocabulary.arrays import Ints
    from .context import Context
    from .problem import PodClass, Problem

name = names.NODE_PORTS


def applies(problem: Problem) -> bool:
    """Whether a pending pod asks for a host port."""
    return any(problem.cluster.pods[c.pod].ports for c in problem.classes)


def encode(ctx: Context) -> None:
    """Exclude conflicting pods on each node."""
    problem = ctx.problem
    pods = problem.cluster.pods
    wanting = [c for c in problem.asking(name, problem.classes) if pods[c.pod].ports]
    fixed: dict[int, list[int]] = {}
    for p in problem.fixed_pods:
        if pods[p].ports:
            fixed.setdefault(int(problem.state.node_of[p]), []).append(p)
    conflicting = cliques(
        (i, j)
        for i, j in combinations(range(len(wanting)), 2)
        if conflict(pods[wanting[i].pod].ports, pods[wanting[j].pod].ports)
    )
    for node in range(problem.cluster.n_nodes):
        literals = [ctx.lands(c, [node]) for c in wanting]
        for c, lands in zip(wanting, literals, strict=True):
            if lands is None:
                continue
            ports = pods[c.pod].ports
            if any(conflict(ports, pods[p].ports) for p in fixed.get(node, ())):
                ctx.model.add(lands == 0)
            for v in problem.victims_on.get(node, ()):
                if conflict(ports, pods[v.pod].ports):
                    ctx.model.add_implication(lands, ctx.all_gone(v))
        for members in conflicting:
            here = [lands for k in members if (lands := literals[k]) is not None]
            if len(here) > 1:
                ctx.model.add_at_most_one(here)


def heedless(problem: Problem, cls: PodClass, others: Sequence[PodClass]) -> bool:
    """Whether a class takes host ports that only other profiles check."""
    return bool(problem.cluster.pods[cls.pod].ports) and unfiltered(problem, name, cls, others)


def limit(problem: Problem, cls: PodClass) -> Ints | None:
    """Limit a node to one member, since the ports of two conflict."""
    if not (problem.cluster.pods[cls.pod].ports and problem.asking(name, [cls])):
        return None
    return np.ones(problem.cluster.n_nodes, dtype=np.int64)


FAMILY = Family(name, applies, encode, limit=limit, heedless=heedless)
