"""Nodes of the cluster and of offers divided into cells, for purchases of large rounds.

A cell is all nodes with the same domains of the keys that constraints spread over, and whose labels and
taints let the same classes in. Nodes are bought in domains that are there, and in as many others as
minDomains asks for: an empty domain more only makes spreading harder.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ...encoders.topology_spread import spread_groups
from ...framework.cycle.runtime import framework_for
from ...framework.rules.spread import hard_constraints
from ..plans.topology import HOSTNAME

if TYPE_CHECKING:
    from ...encoders.problem import Problem
    from ...encoders.topology_spread import SpreadGroup
    from ...framework.vocabulary.arrays import Bools, Ints
    from .sample import Sample
    from .trial import Counts, Market


@dataclass(frozen=True)
class Cell:
    """Nodes of one cell.

    Attributes
    ----------
    domains : dict
        Its domain of each key that constraints spread over.
    own : tuple of int
        The cluster's own nodes, as the problem numbers them.
    offers : tuple of int
        What may be bought there, without what has no more than another offer and costs no less.
    there : int array (R+1,)
        What the cluster's own nodes have free together; the last one is pod slots.
    room : int array (R+1, offers)
        What one node of each offer has free.
    takes_there : int array (C,)
        How many pods of each class the cluster's own nodes take, each by itself.
    takes : int array (C, offers)
        How many one node of each offer takes.
    """

    domains: dict[str, int]
    own: tuple[int, ...]
    offers: tuple[int, ...]
    there: Ints
    room: Ints
    takes_there: Ints
    takes: Ints


@dataclass(frozen=True)
class Division:
    """All cells, and the constraints that spread over domains of several nodes.

    `open` has the domains of each key in which something is or may be bought, `nodes` the node of each offer
    in the problem.
    """

    problem: Problem
    nodes: tuple[int, ...]
    cells: tuple[Cell, ...]
    groups: tuple[SpreadGroup, ...]
    open: dict[str, frozenset[int]]

    @cached_property
    def asked(self) -> Ints:
        """What a pod of each class asks for, pod slots last, (C, R+1)."""
        return np.array([[*cls.request.tolist(), 1] for cls in self.problem.classes], dtype=np.int64)


def divide(sample: Sample, market: Market, most: Counts) -> Division:
    """Divide the cluster's nodes and offers into cells.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer are of use.
    """
    problem = replace(sample.problem, optional=frozenset(sample.nodes.tolist()))
    offer_of = {node: k for k, node in enumerate(sample.nodes.tolist())}
    spread = spread_groups(problem, hard_constraints)
    groups = tuple(group for group in spread if group.constraint.topology_key != HOSTNAME)
    open_ = {
        key: _open(key, [g for g in groups if g.constraint.topology_key == key], offer_of, most)
        for key in sorted({group.constraint.topology_key for group in groups})
    }
    everywhere = np.arange(problem.cluster.n_nodes)
    takes, statics, free = sample.takes(everywhere), _statics(problem), _free(problem)
    found: dict[object, tuple[dict[str, int], list[int], list[int]]] = {}
    for node in np.flatnonzero(takes.any(axis=0)).tolist():
        offer = offer_of.get(node)
        domains = {key: int(problem.cluster.domains(key).ids[node]) for key in open_}
        if offer is not None and (not most[offer] or any(d not in open_[key] for key, d in domains.items())):
            continue
        key = (tuple(domains.values()), statics[:, node].tobytes())
        _, own, offers = found.setdefault(key, (domains, [], []))
        if offer is None:
            own.append(node)
        else:
            offers.append(offer)
    cells = []
    for domains, own, offers in found.values():
        offers = _worthwhile(
            offers, free[:, sample.nodes], takes[:, sample.nodes], sample.sizes, market, most
        )
        nodes = sample.nodes[offers]
        cells.append(
            Cell(
                domains=domains,
                own=tuple(own),
                offers=tuple(offers),
                there=free[:, own].sum(axis=1),
                room=free[:, nodes],
                takes_there=takes[:, own].sum(axis=1),
                takes=takes[:, nodes],
            )
        )
    return Division(problem, tuple(sample.nodes.tolist()), tuple(cells), groups, open_)


def _free(problem: Problem) -> Ints:
    """Return what nodes have free, pod slots last, (R+1, N)."""
    found = np.vstack((problem.free_now, problem.slots_now[None, :]))
    return np.maximum(found, 0)


def _statics(problem: Problem) -> Bools:
    """Return which classes nodes take by what depends neither on room nor on other pods, (C, N)."""
    cluster = problem.cluster
    masks = [framework_for(cluster, cls.pod).static_mask(cls.pod) for cls in problem.classes]
    return np.array(masks, dtype=np.bool_).reshape(len(masks), cluster.n_nodes)


def _open(key: str, groups: list[SpreadGroup], offer_of: dict[int, int], most: Counts) -> frozenset[int]:
    """Return the domains of a key that are there, and others with much to buy as far as they are needed."""
    group = max(groups, key=lambda g: len(g.domains))
    certain, others = group.domains[: group.certain], group.domains[group.certain :]
    needed = max(1, *(g.constraint.min_domains for g in groups))
    offered = {d: sum(most[offer_of[n]] for n in group.members(d)) for d in others}
    more = sorted(others, key=lambda d: (-offered[d], d))[: max(0, needed - len(certain))]
    return frozenset((*certain, *more))


def _worthwhile(
    offers: list[int], room: Ints, takes: Ints, sizes: Ints, market: Market, most: Counts
) -> list[int]:
    """Leave out offers with no more than another one, of which there is one for each pod, and no cheaper."""
    kept: list[int] = []
    for offer in sorted(offers, key=lambda o: (market.catalogue.offers[o].price, -int(room[-1, o]), o)):
        better = (
            most[other] >= sizes[takes[:, other] > 0].sum()
            and bool((room[:, other] >= room[:, offer]).all())
            and bool((takes[:, other] >= takes[:, offer]).all())
            for other in kept
        )
        if not any(better):
            kept.append(offer)
    return kept
