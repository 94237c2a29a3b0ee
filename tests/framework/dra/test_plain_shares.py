"""Shares that are found without a search are those that the search finds."""

from dataclasses import dataclass, field
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import cluster, node
from support.devices import DRIVER, claim, device_class, first_of, gpu, model, request, slice_on, user
from support.devices import alternative as other

from kubestow.framework.build import build_cluster
from kubestow.framework.dra.index import device_index
from kubestow.framework.dra.plain_shares import MOST_DEVICES, plain_shares
from kubestow.framework.dra.search import Manner, allocate, searched

STEPS = {"default": "1", "validRange": {"min": "1", "max": "3", "step": "2"}}


@dataclass
class Held:
    """What others hold, by device identity."""

    amounts: dict[int, int] = field(default_factory=dict)
    alone: frozenset[int] = frozenset()

    def in_use(self, identity):
        return identity in self.alone

    def held(self, identity):
        return identity in self.alone or identity in self.amounts

    def consumed(self, identity):
        amount = self.amounts.get(identity)
        return {} if amount is None else {f"{DRIVER}/mem": Fraction(amount)}


@st.composite
def devices_and_claim(draw):
    """Up to five shared devices of some models, and a claim for some of them."""
    made = [
        gpu(
            f"g{k}",
            shared=True,
            capacity={"mem": (draw(st.sampled_from("234")), draw(st.sampled_from([None, None, STEPS])))},
            taints=draw(st.sampled_from([(), (), [("bad", "NoSchedule")]])),
            model=draw(st.sampled_from("ab")),
        )
        for k in range(draw(st.integers(1, 5)))
    ]
    wanted = request(
        "r",
        *draw(st.sampled_from([(), (model("a"),)])),
        count=draw(st.integers(1, 3)),
        tolerate=draw(st.sampled_from([(), ("bad",)])),
        capacity=draw(st.sampled_from([None, {"mem": "1"}, {"mem": "2"}, {"mem": "500m"}])),
    )
    return made, claim("c", wanted)


def read(made, wanted):
    whole = build_cluster(cluster(node("a"), device_class(), slice_on("a", *made), wanted, user("p", "c")))
    index = device_index(whole)
    spec = index.spec("default/c")
    return index.inventory, [spec]


@settings(max_examples=150, deadline=None)
@given(devices_and_claim(), st.data())
def test_they_are_those_of_the_search_whatever_others_hold(round_, data):
    inventory, specs = read(*round_)
    view = inventory.view(0)
    numbers = [device.identity for device in inventory.devices]
    usage = Held(
        data.draw(st.dictionaries(st.sampled_from(numbers), st.integers(1, 4))),
        data.draw(st.frozensets(st.sampled_from(numbers), max_size=1)),
    )
    for repeated in (False, True):
        manner = Manner(repeated_shares=repeated)
        expected = searched(view, specs, usage, inventory.counters, manner)
        assert allocate(view, specs, usage, inventory.counters, manner) == expected
        plain = plain_shares(view, specs, repeated=repeated)
        assert (plain is None) == (repeated and specs[0].requests[0].wants[0].count > 1)


MEM = {"mem": ("4", None)}
SHARED = gpu("g0", shared=True, capacity=MEM)
ONE = request("r", capacity={"mem": "1"})
LEFT = [
    pytest.param([gpu("g0")], claim("c", ONE), id="a device of one claim's own"),
    pytest.param([gpu("g0", shared=True, capacity=MEM | {"n": "1"})], claim("c", ONE), id="two capacities"),
    pytest.param([SHARED], claim("c", ONE, request("s")), id="two requests"),
    pytest.param([SHARED], claim("c", ONE, match="model"), id="a constraint"),
    pytest.param([SHARED], claim("c", first_of("r", other("x"), other("y"))), id="alternatives"),
    pytest.param([SHARED], claim("c", request("r", mode="All")), id="all devices"),
    pytest.param([SHARED], claim("c", request("r", "device.attributes['x'].y")), id="a selector that fails"),
    pytest.param(
        [gpu(f"g{k}", shared=True, capacity=MEM) for k in range(MOST_DEVICES + 1)],
        claim("c", request("r", count=2)),
        id="more devices than a search for two would try in time",
    ),
]


@pytest.mark.parametrize("made, wanted", LEFT)
def test_everything_else_is_left_to_the_search(made, wanted):
    inventory, specs = read(made, wanted)
    assert plain_shares(inventory.view(0), specs, repeated=False) is None
