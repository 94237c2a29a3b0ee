"""Two engines for one question: on which nodes may these pods stand together, without evictions?

`by_filter` asks the framework and tries every order of binding; `by_encoder` fixes the pods in the model of
the round and asks CP-SAT. The model is a necessary condition, so in general it admits more; the rows of the
tables are ones where both must agree.
"""

from dataclasses import dataclass
from itertools import permutations, product

import pytest
from ortools.sat.python import cp_model

from kubestow.encoders import encode
from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.state.state import State
from kubestow.models.snapshot import Snapshot


@dataclass(frozen=True)
class Case:
    """A row: the pods in question, and where they may stand.

    Each element of `allowed` names one node (a single letter) for each pod: with ``pods=("p", "q")``, "ab" is
    p on node a and q on node b.
    """

    name: str
    snapshot: Snapshot
    allowed: set[str]
    pods: tuple[str, ...] = ("p",)

    def title(self):
        """Name the row in pytest's output."""
        return self.name


def by_filter(case):
    """Where some order of binding passes every filter at every step."""
    cluster = build_cluster(case.snapshot)
    pods = [cluster.pod_index[f"default/{name}"] for name in case.pods]

    def passes(order):
        state = State.initial(cluster)
        for pod, n in order:
            framework = framework_for(cluster, pod)
            if not framework.filter_node(state, pod, n).ok:
                return False
            state.place(pod, n, framework.reserve(state, pod, n))
        return True

    return {
        "".join(cluster.node_names[n] for n in nodes)
        for nodes in product(range(cluster.n_nodes), repeat=len(pods))
        if any(map(passes, permutations(zip(pods, nodes, strict=True))))
    }


def by_encoder(case):
    """Where the model is feasible with exactly these pods placed and none evicted."""
    cluster = build_cluster(case.snapshot)
    pods = [cluster.pod_index[f"default/{name}"] for name in case.pods]
    return {
        "".join(cluster.node_names[n] for n in nodes)
        for nodes in product(range(cluster.n_nodes), repeat=len(pods))
        if admits(cluster, dict(zip(pods, nodes, strict=True)))
    }


both_engines = pytest.mark.parametrize("engine", [by_filter, by_encoder])


def admits(cluster, placed, left=(), goals=None):
    """Whether the model admits these placements and evictions, and no others.

    Parameters
    ----------
    placed : dict of pod to node
    left : iterable of running pods that leave
    goals : dict of tier name to value, optional
        Values that the tiers must be able to take beside.
    """
    problem = build_problem(cluster)
    ctx = encode(problem)
    counts = {}
    for pod, n in placed.items():
        found = next((c.index for c in problem.classes if pod in c.pods), None)
        if (found, n) not in ctx.counts:
            return False
        counts[found, n] = counts.get((found, n), 0) + 1
    for key, variable in ctx.counts.items():
        ctx.model.add(variable == counts.get(key, 0))
    known = {v: victim.index for victim in problem.victims for v in victim.pods}
    if not known.keys() >= set(left):
        return False
    for index, variable in ctx.evictions.items():
        ctx.model.add(variable == sum(known[v] == index for v in left))
    for goal in ctx.goals:
        if goals and goal.name in goals:
            ctx.model.add(goal.terms.expression() == goals[goal.name])
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(ctx.model)
    assert status in (cp_model.OPTIMAL, cp_model.FEASIBLE, cp_model.INFEASIBLE), ctx.model.validate()
    return status != cp_model.INFEASIBLE
