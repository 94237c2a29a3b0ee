"""What the cluster autoscaler would order: new nodes of one group after another, filled first-fit decreasing.

Pods that the cluster as it is takes are placed there. For the others each offer is tried: nodes of it come
one by one, and each takes of the pods that are left, the largest first, what passes kube-scheduler's
filters. The expander chooses one offer, its nodes are ordered, and the rest is tried again.

Of a large catalogue the offers that sums alone find best are tried, so that an order ends. Where pods look
at room, labels, taints and spread alone, numbers tell what passes (`tally`), for any number of pods; where
none of those offers helps, all are tried. Else, where many pods wait, the first that helps is taken, with as
many nodes at once as the sums say, and those that stay empty are taken back.

Source: kubernetes/autoscaler cluster-autoscaler core/scaleup/orchestrator, estimator/binpacking_estimator.go,
estimator/decreasing_pod_orderer.go, expander/{price,waste}.
"""

from __future__ import annotations

import time
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from ...framework.build import build_cluster
from ...framework.cycle.runtime import framework_for
from ...framework.state.state import State
from ...simulation.first_fit import first_fit, waste
from .order import Limits, Option, decreasing
from .plain import is_plain
from .tally import Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...framework.index.cluster import Cluster
    from .order import Placed
    from .sample import Sample
    from .trial import Counts, Market

Expander = Literal["least-waste", "price"]
EXPANDERS: Final[tuple[Expander, ...]] = ("least-waste", "price")

# Offers that are tried with every filter, and waiting pods beyond which the first that helps is taken.
TRIED: Final = 8
ONE_BY_ONE: Final = 100


class Filters:
    """Fills nodes with what passes kube-scheduler's filters.

    Parameters
    ----------
    limits : Limits
        What may be ordered.
    """

    def __init__(self, market: Market, limits: Limits) -> None:
        self._market, self._limits = market, limits

    def settle(self, counts: Counts, placed: Placed) -> tuple[Placed, list[str]]:
        """Place pods where there is room; return all that are placed, and those that are left."""
        cluster, state = self._cluster(counts, placed)
        waiting = [i for i in cluster.pending if cluster.pods[i].key not in placed]
        left = first_fit(cluster, state, _decreasing(cluster, waiting), range(cluster.n_nodes))
        return _placed(cluster, state), [cluster.pods[i].key for i in left]

    def tried(
        self,
        offer: int,
        batch: int,
        counts: Counts,
        placed: Placed,
        pods: Sequence[str],
        until: float,
    ) -> Option | None:
        """Fill new nodes of an offer as long as each takes a pod."""
        there, wanted = counts[offer], {*pods}
        taken: dict[str, str] = {}
        found: Option | None = None
        while len(taken) < len(pods) and time.monotonic() <= until:
            more = self._limits.allowed(offer, counts, there + batch)
            if more <= there:
                break
            now = (*counts[:offer], more, *counts[offer + 1 :])
            names = self._market.bought(now).nodes[offer]
            cluster, state = self._cluster(now, {**placed, **taken})
            new = [cluster.node_index[name] for name in names[there:]]
            rest = [i for i in cluster.pending if cluster.pods[i].key in wanted and state.node_of[i] < 0]
            first_fit(cluster, state, _decreasing(cluster, rest), new)
            used = {state.node_of[i] for i in rest} - {-1}
            if not used:
                break
            if len(used) < len(new):
                batch = len(used)
                continue
            taken = {pod: node for pod, node in _placed(cluster, state).items() if pod not in placed}
            there = more
            share = waste(cluster, state, {*names[counts[offer] :]})
            found = Option(offer, now, there - counts[offer], taken, share)
            if batch > 1:
                batch = max(1, len(used) // 2)
        return found

    def _cluster(self, counts: Counts, placed: Placed) -> tuple[Cluster, State]:
        """Return the cluster with nodes bought, and pods on them."""
        cluster = build_cluster(self._market.bought(counts).snapshot)
        state = State.initial(cluster)
        for i in cluster.pending:
            node = placed.get(cluster.pods[i].key)
            if node is not None:
                n = cluster.node_index[str(node)]
                state.place(i, n, framework_for(cluster, i).reserve(state, i, n))
        return cluster, state


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
        self._market, self._sample, self._least = market, sample, least
        self._limits = Limits(market.catalogue, budget)

    @property
    def small(self) -> bool:
        """Whether there are so few offers and pods that an order ends soon, and is not cut."""
        few = len(self._market.catalogue.offers) <= TRIED
        return few and len(self._market.waiting) <= ONE_BY_ONE

    @cached_property
    def _tally(self) -> Tally | None:
        plain = is_plain(self._sample)
        return Tally(self._market, self._sample, self._limits) if plain else None

    def order(self, expander: Expander, until: float) -> Counts | None:
        """Return all that is ordered until no offer helps; None where that was not found out in time."""
        counts = self._least
        placed: Placed = {}
        engine = self._tally or Filters(self._market, self._limits)
        while True:
            if time.monotonic() > until:
                return None
            placed, pods = engine.settle(counts, placed)
            if not pods:
                return counts
            promising, every = self._promising(pods, expander)
            options = self._options(engine, promising, counts, placed, pods, until)
            if not options and not every and self._tally is not None:
                rest = [(k, 1) for k in range(len(self._market.catalogue.offers))]
                options, every = self._options(engine, rest, counts, placed, pods, until), True
            if not options:
                return counts if every and time.monotonic() <= until else None
            chosen = min(options, key=lambda option: self._rank(option, expander))
            counts, placed = chosen.counts, {**placed, **chosen.pods}

    def _options(
        self,
        engine: Tally | Filters,
        promising: Sequence[tuple[int, int]],
        counts: Counts,
        placed: Placed,
        pods: Sequence[str],
        until: float,
    ) -> list[Option]:
        """Try offers; with filters and many pods only until one helps."""
        options: list[Option] = []
        for offer, nodes in promising:
            option = engine.tried(offer, nodes, counts, placed, pods, until)
            if option is not None:
                options.append(option)
                if len(pods) > ONE_BY_ONE and self._tally is None:
                    break
        return options

    def _rank(self, option: Option, expander: Expander) -> tuple[float, float, str]:
        offer = self._market.catalogue.offers[option.offer]
        cost = option.nodes * offer.price / len(option.pods)
        return (cost if expander == "price" else option.waste, -len(option.pods), offer.name)

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
        requests = np.array([cls.request for cls in problem.classes], dtype=float)
        ranked = []
        for k, offer in enumerate(offers):
            taken = np.where(takes[:, k] > 0, number, 0)
            asked = taken @ requests
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


def _decreasing(cluster: Cluster, pods: Sequence[int]) -> list[int]:
    whole = np.asarray(cluster.allocatable, dtype=float).sum(axis=1)
    usage = np.array([cluster.usage[i] for i in pods], dtype=float).reshape(len(pods), len(whole))
    priorities = np.array([cluster.pods[i].priority for i in pods], dtype=np.int64)
    found: list[int] = decreasing(np.array(pods, dtype=np.int64), priorities, usage, whole).tolist()
    return found


def _placed(cluster: Cluster, state: State) -> dict[str, str]:
    """Return where pods that wait in the input are."""
    return {
        cluster.pods[i].key: cluster.node_names[state.node_of[i]]
        for i in cluster.pending
        if state.node_of[i] >= 0
    }
