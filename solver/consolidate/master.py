"""Purchase, returns and moves as one model: it bounds the price of every consolidation.

The order of moves and the budgets along it are left out, so the optimum bounds what can be reached; the
purchase that it proposes is tried out (`search`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...encoders.build import build_problem
from ...encoders.terms import Goal, Terms
from ...models import tiers
from ..model.round_model import RoundModel
from ..provision.climb import climb
from ..provision.master import NODES, disentangled, purchase_rows

if TYPE_CHECKING:
    from ...models.progress import Watch
    from ..provision.climb import Climbed
    from ..provision.trial import Counts
    from .round import Ask


class Master:
    """The model.

    Parameters
    ----------
    most : tuple of int
        How many nodes of each offer may be of use.
    """

    def __init__(self, ask: Ask, most: Counts, watch: Watch) -> None:
        self._market = ask.market
        bought = ask.market.stripped(most)
        movers = {pod.key for pod in bought.snapshot.pods if pod.spec.node_name}
        cluster = disentangled(bought, movers)
        round_ = ask.round_on(cluster.snapshot, bought, watch, paid=False)
        index = round_.cluster.node_index
        self._nodes = tuple(tuple(index[name] for name in names) for names in bought.nodes)
        optional = frozenset(n for nodes in self._nodes for n in nodes)
        problem = build_problem(round_.cluster, watch, round_.mobility)
        self.problem = replace(problem, optional=optional)
        self._excluded: list[Counts] = []

    def exclude(self, counts: Counts) -> None:
        """Exclude a purchase whose worth is known."""
        self._excluded.append(counts)

    def search(self, until: float) -> tuple[Climbed, Counts | None]:
        """Find the best purchase that is not excluded, with bounds of the tiers."""
        model = RoundModel(self.problem, replace(self._market.options, prefer="none"))
        names = [*(tiers.scheduled(level) for level in self._market.levels), tiers.PRICE, tiers.MOVES]
        goals = [
            model.goals.get(name) or Goal(name, "max" if name in names[:-2] else "min", Terms(), 0, 0)
            for name in names
        ]
        offers = purchase_rows(model.context, self._nodes, self._market.catalogue, self._excluded)
        nodes = Terms()
        for terms in offers:
            nodes.extend(terms)
        goals.append(Goal(NODES, "min", nodes, 0, nodes.high))
        found = climb(model.context.model, goals, self._market.options, until)
        if found.solution is None:
            return found, None
        return found, tuple(found.value(Goal("", "min", terms, 0, terms.high)) for terms in offers)
