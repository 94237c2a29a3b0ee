"""A dump in a failing test's message is the round itself: read back as a manifest it is decided the same."""

import pytest

from kubestow.instances.manifests import parse_snapshot
from kubestow.solver.api import solve_greedy
from support.builders import NOW, manifest
from support.strategies import small, tiny


@pytest.mark.parametrize("make", [tiny, small])
@pytest.mark.parametrize("seed", range(40))
def test_a_manifest_reads_back(make, seed):
    """The same nodes and budgets, and the same greedy decisions step by step."""
    snapshot = make(seed)
    text = manifest(snapshot).encode()
    read = parse_snapshot([("dump.yaml", text)], name=snapshot.name, now=NOW)
    assert read.nodes == snapshot.nodes
    assert read.pod_disruption_budgets == snapshot.pod_disruption_budgets
    ours, theirs = solve_greedy(snapshot), solve_greedy(read)
    assert ours.steps == theirs.steps
    assert ours.tiers == theirs.tiers
    assert ours.unschedulable == theirs.unschedulable
