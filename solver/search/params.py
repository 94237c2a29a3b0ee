"""Every share of time and every threshold of the search.

Shares are of the time that is left when a step begins; docs/model.md says what the steps are. Where no
measurement is named, the value is a choice that none was recorded for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ..columns.params import DEFAULT as COLUMNS
from ..columns.params import ColumnParams
from ..departures.params import DEFAULT as DEPARTURES
from ..departures.params import DepartureParams
from ..lns.params import DEFAULT as LNS
from ..lns.params import LnsParams
from ..packing.params import DEFAULT as PACKING
from ..packing.params import PackingParams
from ..patterns.params import DEFAULT as PATTERNS
from ..patterns.params import PatternParams
from ..refill.params import DEFAULT as REFILL
from ..refill.params import RefillParams


@dataclass(frozen=True, kw_only=True)
class SearchParams:
    """Shares of time and thresholds of the search.

    Attributes
    ----------
    small_model : int
        Variables up to which all tiers are searched in one weighted sum: that costs less than starting over.
    huge_model : int
        Variables beyond which a model is not searched as a whole: in the time of a round that found nothing.
    most_modelled : int
        Who may come where and who may leave, in pairs and classes, beyond which refill search has its tiers
        alone: with 1,026,000 of them model and relaxation took 80 s of processor time and 3 GiB, and found
        nothing after it. With the pairs of classes and devices that these may have it is where the search by
        shares has its tiers alone.
    few_nodes : int
        Nodes up to which a neighbourhood is the whole model.
    construction_share : float
        Share of the round's time after which no plan is constructed.
    scarcity : float
        Power of the ratio of what is asked and what is free, in the weight of a resource.
    share_out_share : float
        Share of the time left for the search by shares of devices. A model node by node, where it closes
        nothing, costs more than it finds: with 0.7 one was begun, and 304 nodes took 8.6 s of a limit of 5 s.
    share_out_alone : float
        The same where no model is built after it, which would be too large; the rest is for putting the plan
        in order.
    fill_types_share : float
        Share of a tier's time for the search by node types, where no devices are shared.
    filling_share : float
        Share of the former for filling nodes where constraints tie the pods; the rest is for choosing which
        pods these are.
    quota_share : float
        Share of what is left then for quotas by zones: of 304 nodes they were near their best after 2 s of
        processor time, and open after 20.
    domain_share : float
        Share of the time for the relaxation by domains and its plan.
    whole_domain_share : float
        The same where all pods are in groups.
    alternative_share : float
        Share of that for the first of several models of which one holds, then for the next.
    domain_workers : int
        Workers for the relaxation by domains, at least, where there is more than one: which of CP-SAT's
        strategies proves it varies. One of 137 variables took eight of them 0.2 s and two more than 5 s.
    large_domain_model : int
        Variables from which presolve of the relaxation is cut short: with 2,500 to 6,900 it took most of the
        time; with 70 the search without it did not end.
    first_domain_try : float
        Seconds after which the relaxation by domains is searched anew with another seed, then twice as many,
        and so on: one of 576 variables took 1 s in one try and more than 7 in another. A large model has
        more in proportion.
    domain_rounds : int
        Choices of domains, each without what turned out too small, before a tier is left to the model node
        by node.
    domain_limit, min_domain_limit : float
        Seconds for placing the members of one domain, at most; for each search of the relaxation, at least.
    tier_share : float
        Share of the time for tiers that have open ones below.
    order_reserve_share, max_order_reserve : float
        Share of the round's time limit kept back to put the last solution in order, and the most of it in
        seconds.
    quick_share : float
        Share of a tier's time in which one worker searches a small model, before relaxations bound it.
    relaxation_share : float
        Share for the linear relaxation, and at most for the bound by sums.
    relaxation_reserve : float
        How much longer than its time the linear relaxation may take, in multiples of the time in which the
        model was read: it is written for the solver, which seldom looks at the clock. With 182,008 variables
        a limit of 1 s took 2.1 s of processor time besides 0.6 s for writing, and reading 1.3 s.
    sums_limit : float
        Seconds for the bound by sums, at most: 5,000 nodes took it 0.1 s.
    last_sums_limit, last_sums_share, least_last_sums : float
        Seconds, and share of the round's time, for these bounds of the tiers that are open in the end, where
        that comes by the clock or by Ctrl-C: the lesser of the two, and seconds at least.
    last_classes_share, least_last_classes : float
        Share of the time until they are begun, and seconds at least, for building classes even where time is
        up: nothing can be said without them. What comes before took 7 to 40 times as long for 20 to 1,000
        nodes, 4 times with devices. A fiftieth of it was too short in every other run of 1,000 nodes.
    departures_limit, departures_share : float
        Seconds for the bound by who leaves each node, at most; share for a plan near it: of 300 nodes with
        three pods each 70 victims violated in 30 s with 0.4 of them, 65 with 0.6, and 61 is the bound.
    node_count_share : float
        Share for counting tiers of placed pods in nodes.
    packing_share : float
        Share for packing.
    refill_share : float
        Share for refill search.
    attainment_share : float
        Share for deciding, over enumerated patterns, whether the bound is attained.
    column_share : float
        Share for column generation.
    pricing_share : float
        Share of that for pricing; the rest is for the integer master.
    first_lns_share, first_lns_seconds : float
        Share, and seconds at least, for large-neighbourhood search before more than the linear relaxation
        bounds a tier: what is found early needs no other phase, and helps the later ones. In a round of 32
        nodes half of the first second went into bounds that were not reached.
    small_lns_share : float
        Share for large-neighbourhood search in a small model, before it is searched as a whole.
    large_whole_share : float
        Share for a large model as a whole, before large-neighbourhood search takes the rest.
    decode_seconds, decode_factor : float
        Seconds, and multiples of the time that it took last, between two attempts to put in order what
        large-neighbourhood search has found.
    """

    small_model: int = 1_200
    huge_model: int = 60_000
    most_modelled: int = 500_000
    few_nodes: int = 4
    construction_share: float = 0.1
    scarcity: float = 4
    share_out_share: float = 0.85
    fill_types_share: float = 0.85
    share_out_alone: float = 0.95
    filling_share: float = 0.5
    quota_share: float = 0.5
    domain_share: float = 0.5
    whole_domain_share: float = 0.8
    alternative_share: float = 0.6
    domain_workers: int = 8
    large_domain_model: int = 1_500
    first_domain_try: float = 1.5
    domain_rounds: int = 20
    domain_limit: float = 2.0
    min_domain_limit: float = 0.1
    tier_share: float = 0.6
    order_reserve_share: float = 0.08
    max_order_reserve: float = 5.0
    quick_share: float = 0.1
    relaxation_share: float = 0.2
    relaxation_reserve: float = 2.0
    sums_limit: float = 5.0
    last_sums_limit: float = 1.0
    last_sums_share: float = 0.02
    last_classes_share: float = 0.5
    least_last_classes: float = 0.25
    departures_limit: float = 5.0
    departures_share: float = 0.6
    least_last_sums: float = 0.1
    node_count_share: float = 0.5
    packing_share: float = 0.4
    refill_share: float = 0.8
    attainment_share: float = 0.2
    column_share: float = 0.4
    pricing_share: float = 0.6
    first_lns_share: float = 0.2
    first_lns_seconds: float = 1.0
    small_lns_share: float = 0.8
    large_whole_share: float = 0.2
    decode_seconds: float = 0.5
    decode_factor: float = 5
    departures: DepartureParams = DEPARTURES
    lns: LnsParams = LNS
    packing: PackingParams = PACKING
    patterns: PatternParams = PATTERNS
    refill: RefillParams = REFILL
    columns: ColumnParams = COLUMNS

    def last_sums(self, seconds: float) -> float:
        """Return the seconds for bounds by sums at the end of a round that took, or may take, so many."""
        return max(self.least_last_sums, min(self.last_sums_limit, self.last_sums_share * seconds))

    def last_classes(self, seconds: float) -> float:
        """Return the seconds for building classes, at least, where so many were spent before."""
        return max(self.least_last_classes, self.last_classes_share * seconds)


DEFAULT: Final = SearchParams()


def default_params() -> SearchParams:
    """Return the parameters of a search that is given none."""
    return DEFAULT
