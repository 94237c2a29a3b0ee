"""Order and membership live in the two registries and nowhere else."""

import sys
from pathlib import Path

import pytest
from support.import_graph import graph, room_of

import kubestow.encoders
import kubestow.encoders.preferences
from kubestow.encoders import ENCODERS, PREFERENCES
from kubestow.framework.plugins import FACTORIES, FilterPlugin, StaticFilter
from kubestow.framework.vocabulary import names
from kubestow.models.tiers import PREFERENCES as NAMES_OF_PREFERENCES

#: Modules of encoders/ that are no family: what families stand on.
FOUNDATION = {
    "cliques",
    "context",
    "build",
    "devices.choice",
    "devices.order",
    "devices.sums",
    "devices.variables",
    "excess",
    "family",
    "linear",
    "mobility",
    "problem",
    "terms",
}

ACQUAINTED = {
    ("encoders.excess", "encoders.topology_spread"): "groups and counts of soft and fallen-back spread",
    ("encoders.fallback", "encoders.topology_spread"): "a fallen-back constraint ties what a hard one does",
    (
        "encoders.preferences.scores",
        "encoders.topology_spread",
    ): "a soft constraint ties what a hard one does",
    ("encoders.preferences.scores", "encoders.inter_pod_affinity"): "so does a soft term",
    ("encoders.desired_count", "encoders.pod_groups"): "literals of a group that starts and its domains",
    ("encoders.preferred_topology", "encoders.pod_groups"): "literal of a group that starts",
    ("encoders.domains.group_types", "encoders.pod_groups"): "which classes belong to a group",
    ("encoders.domains.tree", "encoders.pod_groups"): "which classes belong to a group",
    ("encoders.composite_pod_groups", "encoders.pod_groups"): "literals of the groups that a tree stands on",
    ("solver.search.domain_relaxation", "encoders.pod_groups"): "which classes belong to a group",
    ("solver.rebalance.assignment", "encoders.moves"): "whose successors are of a class",
    ("solver.rebalance.decoding", "encoders.moves"): "whose successors are of a class",
    ("solver.rebalance.evenness", "encoders.moves"): "the same pods and places, summed over the nodes",
    ("solver.rebalance.exhaustive_order", "encoders.moves"): "whose successors are of a class",
    ("solver.rebalance.packing", "encoders.moves"): "the same pods, in patterns of one node",
    ("solver.rebalance.sums", "encoders.moves"): "the same pods and places, summed over the nodes",
    ("solver.bounds.summed", "encoders.eviction"): "the same budgets and tiers, summed over the nodes",
    ("solver.departures.kinds", "encoders.eviction"): "which victims may exceed their budgets",
    ("solver.refill.blueprint", "encoders.topology_spread"): "the domains that constraints spread over",
    ("solver.packing.quotas", "encoders.topology_spread"): "the domains that constraints spread over",
    ("solver.columns.quotas", "encoders.topology_spread"): "the rows of some constraints, cell by cell",
    ("solver.provision.cells", "encoders.topology_spread"): "the domains that constraints spread over",
    ("solver.provision.blueprint", "encoders.topology_spread"): "what a constraint counts in each domain",
    ("solver.model.device_solution", "encoders.devices.choice"): "devices of a solution are read back",
    ("solver.model.device_solution", "encoders.devices.variables"): "devices of a solution are read back",
    ("solver.model.round_model", "encoders.devices.variables"): "a nogood holds the devices that were chosen",
    ("solver.model.variable_index", "encoders.devices.variables"): "what a solution keeps of devices",
}
"""Who imports a family beside the registry and its own room, and why no function of `Family` serves."""


def modules(package):
    folder = Path(package.__file__).parent
    files = [*folder.glob("*.py"), *(folder / "devices").glob("*.py")]
    return {
        ".".join(path.relative_to(folder).with_suffix("").parts) for path in files if path.stem != "__init__"
    }


def test_every_family_is_listed_once():
    """A new file in encoders/ is a family with a line in ENCODERS, or a foundation that says so here."""
    listed = [family.encode.__module__.removeprefix("kubestow.encoders.") for family in ENCODERS]
    assert len(listed) == len(set(listed))
    assert set(listed) == modules(kubestow.encoders) - FOUNDATION


def test_every_family_speaks_of_a_plugin():
    """Encoders carry kube-scheduler's names."""
    known = {value for name, value in vars(names).items() if name.isupper() and isinstance(value, str)}
    assert {encoder.name for encoder in ENCODERS} <= known


def test_every_family_says_its_rule_and_source():
    for family in ENCODERS:
        module = sys.modules[family.encode.__module__]
        assert "Source" in module.__doc__ or "Register" in family.encode.__doc__, module.__name__


def test_every_filter_has_an_encoder_or_is_static():
    """A filter that depends on what is placed has a twin in the model; the others are its mask."""
    twins = {encoder.name for encoder in ENCODERS}
    filters = [factory for factory in FACTORIES.values() if issubclass(factory, FilterPlugin)]
    assert filters
    placed = {factory.name for factory in filters if not issubclass(factory, StaticFilter)}
    assert placed <= twins


def test_every_preference_is_listed():
    assert set(PREFERENCES) == modules(kubestow.encoders.preferences)
    assert set(NAMES_OF_PREFERENCES) == {"none", *PREFERENCES}


def test_families_are_imported_by_the_registry_alone():
    families = {family.encode.__module__.removeprefix("kubestow.") for family in ENCODERS}
    arrows = graph()
    inside = {module for module in arrows if module in families or room_of(module) == "encoders.devices"}
    found = {
        (module, target)
        for module, targets in arrows.items()
        for target in targets & inside
        if module != "encoders" and room_of(module) != room_of(target)
    }
    assert found == ACQUAINTED.keys()


@pytest.mark.parametrize("module", ["solver.decomposition.components", "solver.ordering.components"])
def test_parts_and_orders_hear_of_families_from_the_registry(module):
    assert {name for name in graph()[module] if name.startswith("framework")} == set()
    assert {name for name in graph()[module] if name.startswith("encoders")} == {
        "encoders",
        "encoders.family",
        "encoders.problem",
    }
