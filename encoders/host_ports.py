"""Host ports: two pods whose ports conflict never share a node.

    lands(c, n) + lands(d, n) <= 1            for conflicting classes c, d
    y[c,n] <= 1                               for a class with any host port (`PodClass.limit`)
    lands(c, n) -> every conflicting running pod of n leaves

Source: kube-scheduler 1.34.1 nodeports/node_ports.go.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from ..framework import names
from ..framework.ports import conflict

if TYPE_CHECKING:
    from .context import Context
    from .problem import Problem

name = names.NODE_PORTS


def applies(problem: Problem) -> bool:
    """Only where a pending pod wants a host port."""
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
    pairs = [(a, b) for a, b in combinations(wanting, 2) if conflict(pods[a.pod].ports, pods[b.pod].ports)]
    for node in range(problem.cluster.n_nodes):
        for c in wanting:
            lands = ctx.lands(c, [node])
            if lands is None:
                continue
            ports = pods[c.pod].ports
            if any(conflict(ports, pods[p].ports) for p in fixed.get(node, ())):
                ctx.model.add(lands == 0)
            for v in problem.victims_on.get(node, ()):
                if conflict(ports, pods[v.pod].ports):
                    ctx.model.add_implication(lands, ctx.all_gone(v))
        for a, b in pairs:
            lands_a, lands_b = ctx.lands(a, [node]), ctx.lands(b, [node])
            if lands_a is not None and lands_b is not None:
                ctx.model.add_at_most_one(lands_a, lands_b)
