"""What the checker finds out once about slices and selectors is what asking every node finds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import cluster, node
from support.devices import gpu, slice_

from kubestow.framework.dra.checker_view import Reach, ServedDevices, _sees
from kubestow.models.selectors import NodeSelector

NAMES = ["a", "b", "c"]
ZONES = ["z1", "z2"]


def named(*names):
    return {"key": "metadata.name", "operator": "In", "values": list(names)}


@st.composite
def selectors(draw):
    """Terms by name, by label, or by both."""
    terms = []
    for _ in range(draw(st.integers(1, 2))):
        term = {}
        if draw(st.booleans()):
            term["matchFields"] = [named(draw(st.sampled_from([*NAMES, "gone"])))]
        if draw(st.booleans()) or not term:
            values = [draw(st.sampled_from(ZONES))]
            operator = draw(st.sampled_from(["In", "NotIn"]))
            key = "topology.kubernetes.io/zone"
            term["matchExpressions"] = [{"key": key, "operator": operator, "values": values}]
        terms.append(term)
    return {"nodeSelectorTerms": terms}


@st.composite
def places(draw):
    """Where a slice says that its devices are."""
    return draw(
        st.one_of(
            st.sampled_from([*NAMES, "gone"]).map(lambda name: {"nodeName": name}),
            selectors().map(lambda selector: {"nodeSelector": selector}),
            st.just({"allNodes": True}),
        )
    )


@st.composite
def snapshots(draw):
    nodes = [node(name, zone=draw(st.sampled_from(ZONES))) for name in NAMES]
    pools = draw(st.lists(places(), min_size=1, max_size=4))
    slices = [slice_(f"s{k}", gpu(f"g{k}"), pool=f"p{k % 3}", **where) for k, where in enumerate(pools)]
    release = draw(st.sampled_from(["1.34", "1.36"]))
    return cluster(*nodes, *slices, release=release)


@given(snapshots(), selectors())
def test_reach_is_what_every_node_answers(snapshot, raw):
    reach = Reach({each.name: each for each in snapshot.nodes})
    selector = NodeSelector.model_validate(raw)
    taken = {each.name for each in snapshot.nodes if selector.matches(each.metadata.labels, each.name)}
    assert reach.selected(selector) == taken
    assert reach.in_order(taken) == [name for name in NAMES if name in taken]
    devices = ServedDevices(snapshot)
    for each in snapshot.nodes:
        for served in devices.reached(each).values():
            serving = {n.name for n in snapshot.nodes if served.reached_from(n)}
            assert reach.serving(served) == serving


@given(snapshots())
def test_a_node_is_shown_every_pool_of_which_it_sees_a_slice(snapshot):
    devices = ServedDevices(snapshot)
    for each in snapshot.nodes:
        pools = [pool.name[1] for pool in devices.pools(each)]
        seen = {item.spec.pool.name for item in devices.slices if _sees(each, item)}
        assert pools == [
            name for name in dict.fromkeys(s.spec.pool.name for s in devices.slices) if name in seen
        ]


@pytest.mark.parametrize("selector", [None, NodeSelector()])
def test_no_selector_takes_all_and_one_without_terms_takes_none(selector):
    snapshot = cluster(*(node(name) for name in NAMES))
    taken = Reach({each.name: each for each in snapshot.nodes}).selected(selector)
    assert taken == (frozenset(NAMES) if selector is None else frozenset())
