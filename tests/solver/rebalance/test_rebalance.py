"""What moves gain: who moves, in how many batches, and what keeps a pod or a node."""

import pytest
from support.builders import budget, cluster, group, node, pod
from support.device_rounds import tiny_devices

from kubestow.models.errors import KubestowError
from kubestow.models.eviction_limits import PodSelector
from kubestow.models.moves import MoveOptions
from kubestow.solver.options import SolveOptions
from kubestow.solver.rebalance.api import rebalance
from kubestow.solver.rebalance.round import MoveWishes

WEB = pod("web").label(app="web").owned().req(cpu="1", memory="2Gi")
BIG = pod("big").req(cpu="4")
NODES = (node("a", cpu="4"), node("b", cpu="4"), node("c", cpu="4"))


def moved(*objects, goal="admit", most=None, memory=False, price="", frontier=False, seconds=60, **options):
    wishes = MoveWishes(goal=goal, most=most, memory=memory, price=price, options=MoveOptions(**options))
    search = SolveOptions(time_limit=seconds, workers=1)
    return rebalance(cluster(*objects), wishes, search, frontier=frontier)


def values(plan):
    return {tier.name: tier.value for tier in plan.tiers if tier.value}


def goes(found):
    return {move.pod.partition("/")[2]: f"{move.source}-{move.target}" for move in found.optimal.moves}


HALF = (*NODES, WEB.on("a"), WEB.named("api").on("b"), WEB.named("db").req(cpu="2").on("c"))


@pytest.mark.parametrize(
    "objects, gain, batches",
    [
        pytest.param([*HALF, BIG], {"scheduled[priority=0]": 1, "moves": 1}, 1, id="one move lets a pod in"),
        pytest.param(
            [*HALF, BIG, BIG.named("two")],
            {"scheduled[priority=0]": 2, "moves": 2},
            1,
            id="two pods get in by two moves, all at once",
        ),
        pytest.param(
            [*HALF, BIG, BIG.named("two"), budget("web", app="web", allowed=1)],
            {"scheduled[priority=0]": 2, "moves": 2},
            2,
            id="a budget of one takes them one after the other",
        ),
        pytest.param(
            [*HALF, BIG, budget("web", app="web", allowed=0)],
            {},
            0,
            id="a budget that allows no disruption keeps its pods",
        ),
        pytest.param(
            [*HALF, *(BIG.member("g").named(f"m{k}") for k in (0, 1)), group("g", gang=2)],
            {"scheduled[priority=0]": 2, "moves": 2},
            1,
            id="a gang gets in whole",
        ),
        pytest.param(
            [*HALF, *(BIG.member("g").named(f"m{k}") for k in (0, 1, 2)), group("g", gang=3)],
            {},
            0,
            id="nobody moves for a gang that does not get in",
        ),
        pytest.param(
            [
                *(node(name, cpu="2") for name in "abc"),
                *(WEB.named(f"w{k}").req(cpu="1").on(n) for k, n in enumerate("abc")),
                pod("one").req(cpu="2").priority(9),
                pod("two").req(cpu="1"),
            ],
            {"scheduled[priority=9]": 1, "scheduled[priority=0]": 1, "moves": 1},
            1,
            id="the higher priority first, then the lower one",
        ),
    ],
)
def test_pods_that_wait_get_in(objects, gain, batches):
    found = moved(*objects)
    assert found.optimal.proven
    assert values(found.optimal) == gain
    assert found.optimal.batches == batches


FULL = (
    node("a", cpu="2", zone="x"),
    node("b", cpu="2", zone="y"),
    pod("p").owned().req(cpu="2").label(app="p").on("a"),
    pod("q").owned().req(cpu="2").label(app="q").on("b"),
)


@pytest.mark.parametrize(
    "extra, moves",
    [
        pytest.param([], 2, id="two pods trade places if both may be away"),
        pytest.param([node("c", cpu="2", zone="z")], 2, id="the same with a third node for the time being"),
        pytest.param(
            [budget("both", {"matchExpressions": [{"key": "app", "operator": "Exists"}]}, allowed=1)],
            0,
            id="not if one of them has to be in place: a solution without an order is no plan",
        ),
    ],
)
def test_a_plan_has_an_order(extra, moves):
    """The pod that waits wants p in its zone, on a node with room of another sort."""
    waits = pod("w").req(cpu="0").affinity("zone", {"app": "p"}).select({"topology.kubernetes.io/zone": "y"})
    found = moved(*FULL, waits, *extra)
    assert found.optimal.proven
    assert len(found.optimal.moves) == moves
    assert len(found.optimal.bindings) == (moves > 0)


@pytest.mark.parametrize(
    "objects, options, freed",
    [
        pytest.param([WEB.on("a"), WEB.named("api").on("b")], {}, 1, id="one node holds both"),
        pytest.param(
            [WEB.on("a"), pod("own").req(cpu="1").on("b")], {}, 1, id="a pod without controller stays"
        ),
        pytest.param(
            [
                WEB.on("a"),
                pod("agent").owned("DaemonSet/agent").req(cpu="1").on("a"),
                WEB.named("api").on("b"),
            ],
            {},
            1,
            id="a DaemonSet's pod goes with its node",
        ),
        pytest.param(
            [WEB.on("a"), WEB.named("api").on("b")],
            {"never_move": (PodSelector.parse("app=web"),)},
            0,
            id="who is never to move stays",
        ),
        pytest.param([WEB.on("a"), WEB.named("api").on("b")], {"most": 0}, 0, id="no move, no gain"),
        pytest.param(
            [WEB.on("a"), WEB.named("api").on("b"), pod("waits").req(cpu="4")],
            {},
            1,
            id="pods that wait play no part",
        ),
    ],
)
def test_nodes_are_emptied(objects, options, freed):
    found = moved(*NODES, *objects, goal="free-nodes", **options)
    assert found.optimal.proven
    assert len(found.optimal.freed) == freed


def test_one_node_at_a_time_blocks_itself():
    """The first pod goes to the first node that takes it, which then cannot be emptied any more."""
    found = moved(
        *NODES, WEB.on("a"), WEB.named("api").on("b"), pod("own").req(cpu="1").on("c"), goal="free-nodes"
    )
    assert (len(found.optimal.freed), len(found.heuristic.freed)) == (2, 1)


def priced(name, price):
    return node(name, cpu="4").label({"example.com/price": price})


def test_the_dearest_node_goes_first():
    nodes = priced("a", "0.10"), priced("b", "0.40"), priced("c", "0.125")
    running = WEB.on("a"), WEB.named("api").req(cpu="3").on("b")
    found = moved(*nodes, *running, goal="cheapest", price="example.com/price")
    assert (found.price_unit, values(found.optimal)) == ("0.001", {"price": 100, "moves": 1})
    assert goes(found) == {"api": "b-a"}


@pytest.mark.parametrize(
    "price, words",
    [
        pytest.param(None, "no label or annotation example.com/price", id="a node without a price"),
        pytest.param("cheap", "'cheap' is not a price", id="a word"),
        pytest.param("-1", "'-1' is not a price", id="less than nothing"),
        pytest.param("NaN", "'NaN' is not a price", id="no number"),
    ],
)
def test_a_price_is_told_in_one_line(price, words):
    labelled = node("a") if price is None else node("a").label({"example.com/price": price})
    with pytest.raises(KubestowError, match=words):
        moved(labelled, WEB.on("a"), goal="cheapest", price="example.com/price")


def test_least_memory_breaks_ties():
    """Either pod may make room; the smaller one does, whichever stands first."""
    nodes = node("a", cpu="2"), node("b", cpu="2"), node("c", cpu="1")
    heavy, light = WEB.req(memory="8Gi"), WEB.named("light").req(memory="1Gi")
    found = moved(*nodes, heavy.on("a"), light.on("b"), pod("w").req(cpu="2"), memory=True)
    assert goes(found) == {"light": "b-c"}
    assert values(found.optimal)["movedMemory"] == 2**30


@pytest.mark.parametrize(
    "goal, gain",
    [
        pytest.param("spread", {"spread": 3, "moves": 2}, id="one pod a node"),
        pytest.param("pack", {"pack": 1}, id="all on one node, as they are"),
    ],
)
def test_preferences_are_goals(goal, gain):
    pods = (WEB.named(f"w{k}").on("a") for k in range(3))
    found = moved(*NODES, *pods, goal=goal)
    assert found.optimal.proven
    assert values(found.optimal) == gain


@pytest.mark.parametrize("seed", [19, 34])
def test_claims_that_greedy_takes_devices_back_from_are_replayed(seed):
    """In these rounds kube-scheduler lets a pod in by deallocating a claim."""
    found = rebalance(tiny_devices(seed), MoveWishes(goal="admit"), SolveOptions(time_limit=60, workers=1))
    assert any(step.deallocate for step in found.heuristic.steps)
    assert found.optimal.tiers[0].value >= found.heuristic.tiers[0].value


def test_out_of_time_the_plan_is_no_worse_than_the_rule_and_its_bounds_hold():
    found = moved(*NODES, WEB.on("a"), WEB.named("api").on("b"), goal="free-nodes", seconds=1e-9)
    free, best = (
        found.optimal.tiers[0],
        moved(*NODES, WEB.on("a"), WEB.named("api").on("b"), goal="free-nodes"),
    )
    assert free.value >= found.heuristic.tiers[0].value
    assert free.bound is None or free.bound >= best.optimal.tiers[0].value


def test_the_front_is_monotone_and_ends_in_the_optimum():
    found = moved(*HALF, BIG, BIG.named("two"), frontier=True)
    gains = [point.tiers[0].value for point in found.front]
    assert gains == [0, 1, 2]
    assert [point.moves for point in found.front] == [0, 1, 2]
    assert all(point.proven for point in found.front)
    assert found.front[-1].tiers[0] == found.optimal.tiers[0]


def test_nothing_to_do_is_an_answer():
    found = moved(node("a"), goal="admit")
    assert found.optimal.proven
    assert not found.optimal.steps
