"""What the cluster autoscaler would order: new nodes of one group after another, filled first-fit decreasing.

Pods that the cluster as it is takes are placed there. For the others each offer is tried: nodes of it come
one by one, and each takes of the pods that are left, the largest first, what passes kube-scheduler's
filters. The expander chooses one offer, its nodes are ordered, and the rest is tried again.

An order in a large catalogue is made in two steps, so that it ends: offers are ranked by sums alone, and the
first of them are tried. Where many pods wait, the first of each zone are tried until one helps, with as many
nodes at once as the sums say, and those that stay empty are taken back.

Source: kubernetes/autoscaler cluster-autoscaler core/scaleup/orchestrator, estimator/binpacking_estimator.go,
estimator/decreasing_pod_orderer.go, expander/{price,waste}.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ...framework.build import build_cluster
from ...framework.cycle.runtime import framework_for
from ...framework.state.state import State
from ...simulation.first_fit import first_fit, waste

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.index.cluster import Cluster
    from .sample import Sample
    from .trial import Counts, Market

Expander = Literal["least-waste", "price"]

# Offers that are tried with every filter, and waiting pods beyond which the first that helps is taken.
TRIED: Final = 8
ONE_BY_ONE: Final = 100


@dataclass(frozen=True)
class _Option:
    offer: int
    counts: Counts
    nodes: int
    pods: dict[str, str]
    waste: float


class Estimator:
    """Orders as the autoscaler makes them.

    Parameters
    ----------
    least : tuple of int
        What is bought in any case.
    budget : int or None
        What an order may cost, in millionths: offers are taken as long as they fit.
    """

    def __init__(self, market: Market, sample: Sample, least: Counts, budget: int | None) -> None:
        self._market, self._sample = market, sample
        self._least, self._budget = least, budget

    @property
    def small(self) -> bool:
        """Whether every offer is tried node by node: that ends soon, and is not cut."""
        few = len(self._market.catalogue.offers) <= TRIED
        return few and len(self._market.waiting) <= ONE_BY_ONE

    def order(self, expander: Expander, until: float) -> Counts | None:
        """Return all that is ordered until no offer helps; None where that was not found out in time."""
        counts = self._least
        placed: dict[str, str] = {}
        while True:
            if time.monotonic() > until:
                return None
            cluster, state = self._cluster(counts, placed)
            everywhere = range(cluster.n_nodes)
            waiting = [i for i in cluster.pending if cluster.pods[i].key not in placed]
            left = first_fit(cluster, state, self._decreasing(cluster, waiting), everywhere)
            placed = _placed(cluster, state)
            if not left:
                return counts
            pods = [cluster.pods[i].key for i in left]
            options: list[_Option] = []
            promising, every = self._promising(pods, expander)
            for offer, nodes in promising:
                option = self._tried(offer, nodes, counts, placed, pods, until)
                if option is not None:
                    options.append(option)
                    if len(pods) > ONE_BY_ONE:
                        break
            if not options:
                return counts if every and time.monotonic() <= until else None
            chosen = min(options, key=lambda option: self._rank(option, expander))
            counts, placed = chosen.counts, {**placed, **chosen.pods}

    def _rank(self, option: _Option, expander: Expander) -> tuple[float, float, str]:
        offer = self._market.catalogue.offers[option.offer]
        cost = option.nodes * offer.price / len(option.pods)
        return (cost if expander == "price" else option.waste, -len(option.pods), offer.name)

    def _cluster(self, counts: Counts, placed: dict[str, str]) -> tuple[Cluster, State]:
        """Return the cluster with nodes bought, and pods on them."""
        cluster = build_cluster(self._market.bought(counts).snapshot)
        state = State.initial(cluster)
        for i in cluster.pending:
            node = placed.get(cluster.pods[i].key)
            if node is not None:
                n = cluster.node_index[node]
                state.place(i, n, framework_for(cluster, i).reserve(state, i, n))
        return cluster, state

    def _decreasing(self, cluster: Cluster, pods: Sequence[int]) -> list[int]:
        """Order pods by importance, the larger first: by the sum of the shares of what they ask for."""
        whole = np.maximum(np.asarray(cluster.allocatable, dtype=float).sum(axis=1), 1.0)
        return sorted(
            pods,
            key=lambda i: (-cluster.pods[i].priority, -float((cluster.usage[i] / whole).sum()), i),
        )

    def _promising(self, pods: Sequence[str], expander: Expander) -> tuple[list[tuple[int, int]], bool]:
        """Return offers that take a pod, with how many come at first, and whether these are all.

        Of many offers they are the best ones by sums alone.
        """
        sample, offers = self._sample, self._market.catalogue.offers
        if len(offers) <= TRIED:
            return [(k, 1) for k in range(len(offers))], True
        problem, wanted = sample.problem, {*pods}
        number = [sum(problem.cluster.pods[i].key in wanted for i in cls.pods) for cls in problem.classes]
        takes = np.minimum(sample.takes(sample.nodes), np.array(number)[:, None])
        room = np.maximum(np.asarray(problem.free_now[:, sample.nodes], dtype=float), 0)
        ranked = []
        for k, offer in enumerate(offers):
            taken = np.where(takes[:, k] > 0, number, 0)
            asked = sum(
                n * np.asarray(cls.request, dtype=float)
                for n, cls in zip(taken, problem.classes, strict=True)
            )
            if not taken.any():
                continue
            shares = np.divide(asked, room[:, k], out=np.zeros(len(room)), where=room[:, k] > 0)
            slots = taken.sum() / max(1, int(problem.slots_now[sample.nodes[k]]))
            nodes = max(1.0, np.ceil(max(slots, *shares)))
            wasted = 2 - shares[:2].sum() / nodes
            first = nodes * offer.price / taken.sum() if expander == "price" else wasted
            ranked.append((first, -int(taken.sum()), offer.name, k, int(nodes)))
        if len(pods) <= ONE_BY_ONE:
            return [(k, 1) for *_, k, _ in sorted(ranked)[:TRIED]], len(ranked) <= TRIED
        best: dict[str, list[tuple[int, int]]] = {}
        for *_, k, nodes in sorted(ranked):
            best.setdefault(offers[k].zone, []).append((k, nodes))
        turns = zip_longest(*best.values())
        chosen = [option for turn in turns for option in turn if option is not None]
        return chosen[:TRIED], len(chosen) <= TRIED

    def _tried(
        self,
        offer: int,
        batch: int,
        counts: Counts,
        placed: dict[str, str],
        pods: Sequence[str],
        until: float,
    ) -> _Option | None:
        """Fill new nodes of an offer as long as each takes a pod."""
        there = counts[offer]
        taken: dict[str, str] = {}
        found: _Option | None = None
        while len(taken) < len(pods) and time.monotonic() <= until:
            more = self._allowed(offer, counts, there + batch)
            if more <= there:
                break
            now = (*counts[:offer], more, *counts[offer + 1 :])
            names = self._market.bought(now).nodes[offer]
            cluster, state = self._cluster(now, {**placed, **taken})
            new = [cluster.node_index[name] for name in names[there:]]
            rest = [i for i in cluster.pending if cluster.pods[i].key in pods and state.node_of[i] < 0]
            first_fit(cluster, state, self._decreasing(cluster, rest), new)
            used = {state.node_of[i] for i in rest} - {-1}
            if not used:
                break
            if len(used) < len(new):
                batch = len(used)
                continue
            taken = {pod: node for pod, node in _placed(cluster, state).items() if pod not in placed}
            there = more
            share = waste(cluster, state, {*names[counts[offer] :]})
            found = _Option(offer, now, there - counts[offer], taken, share)
            if batch > 1:
                batch = max(1, len(used) // 2)
        return found

    def _allowed(self, offer: int, counts: Counts, wanted: int) -> int:
        """Return the most nodes of an offer, up to those wanted, that limits and money allow."""
        catalogue = self._market.catalogue
        for n in range(wanted, counts[offer], -1):
            now = (*counts[:offer], n, *counts[offer + 1 :])
            if catalogue.allows(now) and (self._budget is None or catalogue.price(now) <= self._budget):
                return n
        return counts[offer]


def _placed(cluster: Cluster, state: State) -> dict[str, str]:
    """Return where pods that wait in the input are."""
    return {
        cluster.pods[i].key: cluster.node_names[state.node_of[i]]
        for i in cluster.pending
        if state.node_of[i] >= 0
    }
