"""The Booleans of a round, and the one place of the check that asks a solver.

Rows are added through `Booleans`, which keeps what the families share: where pods may go and who may leave.
"""

from __future__ import annotations

from functools import reduce
from math import gcd, lcm
from typing import TYPE_CHECKING, Literal, TypeAlias

from ortools.sat.python import cp_model

from ....framework.cycle.runtime import framework_for
from ....framework.rules.eviction_limits import spared
from ....framework.state.state import State
from ....framework.vocabulary import names
from ....models.volumes import InTreeSources

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from ....framework.index.cluster import Cluster

Linear: TypeAlias = "cp_model.LinearExpr | int"

MOST_CHOICES = 100_000
"""Rounds with more pairs of a pod and a node, or of a claim and a device, are not looked at."""

_WIDEST = 2**30

_EFFORT = 60.0
"""The solver's deterministic seconds."""

# What a pod that comes, or that stays, may do for another: these filters are no rows, and keep nobody away.
_HELPED = frozenset({names.DYNAMIC_RESOURCES, names.POD_TOPOLOGY_SPREAD})
_DISKS = tuple(InTreeSources.model_fields)
_OF_VOLUMES = frozenset({names.VOLUME_BINDING, names.VOLUME_RESTRICTIONS, names.NODE_VOLUME_LIMITS})


class TooLarge(Exception):
    """A round with more choices than are looked at."""


class Booleans:
    """The model, with what its families share.

    Attributes
    ----------
    cluster : Cluster
    model : CpModel
    victims : list of int
        The running pods that may leave.
    at : dict
        (pod, node) -> whether the pod is bound there; pairs that no filter lets pass are not in it.
    gone : dict
        Victim -> whether it leaves.
    start, emptied : State
        The round as it is, and without the victims and without the claims that may be given back.
    """

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.model = cp_model.CpModel()
        self.start = State.initial(cluster)
        self.victims = _victims(cluster)
        self.emptied = self._emptied()
        self.at: dict[tuple[int, int], cp_model.IntVar] = {}
        for i in cluster.pending:
            here = [self._variable(f"{i} on {n}", (i, n)) for n in self._nodes(i)]
            self.model.add_at_most_one(here)
        self.gone = {v: self.model.new_bool_var(f"{v} leaves") for v in self.victims}

    def placed(self, pods: Iterable[int], nodes: Iterable[int] | None = None) -> Linear:
        """Count the pods that are bound, on some nodes or on any."""
        where = range(self.cluster.n_nodes) if nodes is None else nodes
        return sum(self.at[i, n] for i in pods for n in where if (i, n) in self.at)

    def nodes_of(self, i: int) -> list[int]:
        """Return the nodes on which a pod may be."""
        return [n for n in range(self.cluster.n_nodes) if (i, n) in self.at]

    def at_most(self, terms: Sequence[tuple[Fraction | int, Linear]], most: Fraction | int) -> None:
        """Add a row: the sum of numbers times expressions that are not negative is at most a number.

        Fractions become whole numbers. A row that is too wide for CP-SAT's presolve (google/or-tools#5293) is
        scaled down; what is rounded off makes it weaker, never wrong.
        """
        scale = reduce(lcm, (value.denominator for value in (most, *(number for number, _ in terms))), 1)
        whole = [int(number * scale) for number, _ in terms]
        divisor = max(reduce(gcd, whole, 0), 1)
        divisor = max(divisor, -(-sum(map(abs, whole)) // _WIDEST))
        row = sum(number // divisor * term for number, (_, term) in zip(whole, terms, strict=True))
        self.model.add(row <= int(most * scale) // divisor)

    def solve(self, *, few: Sequence[Linear]) -> cp_model.CpSolver | Literal[False] | None:
        """Look for a solution with few of some things: False where there is none, None where that is open."""
        from ...model.cp_solver import cp_solver

        self.model.minimize(sum(few))
        solver = cp_solver()
        solver.parameters.max_deterministic_time = _EFFORT
        status = solver.solve(self.model)
        if status in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return solver
        return False if status == cp_model.INFEASIBLE else None

    # -- where pods may go --

    def _variable(self, name: str, key: tuple[int, int]) -> cp_model.IntVar:
        if len(self.at) >= MOST_CHOICES:
            raise TooLarge
        self.at[key] = self.model.new_bool_var(name)
        return self.at[key]

    def _emptied(self) -> State:
        state = self.start.copy()
        for v in self.victims:
            state.remove(v)
        if state.claims is not None:
            for key in [key for key in state.claims.allocations if state.claims.idle(key)]:
                state.claims.deallocate(key)
        return state

    def _nodes(self, i: int) -> list[int]:
        """Return the nodes that the filters which others cannot help through let a pod have."""
        helped = self._helped(i)
        cycle = framework_for(self.cluster, i).pre_filter(self.emptied, i)
        every = list(range(self.cluster.n_nodes))
        if cycle.rejected is not None:
            return every if cycle.rejected.plugin in helped else []
        found = [n for n in every if cycle.outside is None or not cycle.outside[n]]
        for plugin, data in cycle.entries:
            if plugin.name not in helped:
                found = [n for n in found if not plugin.permits(plugin.fork(data, self.emptied, i, n))]
        return found

    def _helped(self, i: int) -> frozenset[str]:
        """Return the filters that may let a pod pass because of a pod that is not gone."""
        info = self.cluster.pods[i]
        helped = _HELPED
        if info.terms.required_affinity:
            helped |= {names.INTER_POD_AFFINITY}
        if _shares_volumes(self.cluster, i):
            helped |= _OF_VOLUMES
        return helped


def _victims(cluster: Cluster) -> list[int]:
    pods, stay = cluster.pods, spared(cluster)
    reach = max((pods[i].priority for i in cluster.pending if pods[i].preempts), default=None)
    if reach is None:
        return []
    return [v for v in cluster.bound if pods[v].priority < reach and not (stay is not None and stay[v])]


def _shares_volumes(cluster: Cluster, i: int) -> bool:
    """Whether another pod may have a volume of a pod: it has the same claim, or names a disk by itself."""
    claims = _volume_claims(cluster, i)
    disks = (getattr(volume, source) for volume in cluster.pods[i].pod.spec.volumes for source in _DISKS)
    others = (j for j in range(len(cluster.pods)) if j != i)
    return any(disk is not None for disk in disks) or (
        bool(claims) and any(claims & _volume_claims(cluster, j) for j in others)
    )


def _volume_claims(cluster: Cluster, i: int) -> frozenset[tuple[str, str]]:
    info = cluster.pods[i]
    named = (volume.persistent_volume_claim for volume in info.pod.spec.volumes)
    return frozenset((info.namespace, item.claim_name) for item in named if item is not None)
