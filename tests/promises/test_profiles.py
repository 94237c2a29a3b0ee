"""Optimal means optimal under any profile: plugins and points switched off, split pods, gates off.

The rounds are those of every family, with random configurations; what is refused by name is no round.
"""

from dataclasses import replace

import pytest
from support.builders import KEYS, cluster, group, node, pod, workload
from support.devices import claim, device_class, gpu, request, slice_on, user
from support.profile_rounds import tiny_gated, tiny_profiled
from support.proof import OPTIONS, check_optimal, solve_and_replay
from support.storage import MAKE, bound, csi_node
from support.sweeps import few_or_all

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.supported import unsupported


def without(*plugins, name="careless", **points):
    """A profile beside the default one, with plugins off altogether or at points."""
    off = {point: {"disabled": [{"name": plugin} for plugin in given]} for point, given in points.items()}
    if plugins:
        off["multiPoint"] = {"disabled": [{"name": plugin} for plugin in plugins]}
    return {"profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": name, "plugins": off}]}


def careless(item):
    return item.scheduler("careless")


@pytest.mark.parametrize("seed", range(few_or_all(40, 80)))
def test_the_plan_equals_the_exhaustive_search_under_random_profiles(seed):
    snapshot = tiny_profiled(seed)
    if unsupported(build_cluster(snapshot)):
        pytest.skip("refused by name")
    check_optimal(snapshot)


@pytest.mark.parametrize("seed", range(few_or_all(25, 40)))
def test_the_plan_equals_the_exhaustive_search_with_random_gates_off(seed):
    snapshot = tiny_gated(seed)
    if unsupported(build_cluster(snapshot)):
        pytest.skip("refused by name")
    check_optimal(snapshot)


BIG = pod("p").req(cpu="3")
SMALL = pod("q").req(cpu="1")
GANG = group("g", gang=2)
PAIR = workload("w", {"name": "g", "policy": {"gang": {"minCount": 2}}})
ZONED = group("g", KEYS["zone"], desired=6)


@pytest.mark.parametrize(
    "objects, configuration, placed",
    [
        pytest.param(
            [node("a", cpu="2"), PAIR, careless(BIG.replica("w", "g")), SMALL.req(cpu="2").replica("w", "g")],
            without("NodeResourcesFit"),
            2,
            id="a gang of which one asks for room comes to the node, that one first",
        ),
        pytest.param(
            [node("a", pods="1"), GANG, careless(pod("p").member("g")), careless(pod("q").member("g"))],
            without(filter=["NodeResourcesFit"]),
            2,
            id="a gang needs no pod slots where nothing filters by room",
        ),
        pytest.param(
            [node("a", cpu="2"), careless(BIG.priority(9)), SMALL.times(2)],
            without("NodeResourcesFit"),
            3,
            id="who takes room unasked comes last, however important",
        ),
        pytest.param(
            [
                node("a", cpu="2"),
                pod("v").req(cpu="2").priority(-5).on("a"),
                careless(BIG),
                SMALL.times(2).priority(3),
            ],
            without("NodeResourcesFit"),
            3,
            id="and after victims have left for others",
        ),
        pytest.param(
            [node("a"), careless(pod("p").host_port(80).priority(9)), pod("q").host_port(80)],
            without("NodePorts"),
            2,
            id="a host port that is not looked for is taken after one that is",
        ),
        pytest.param(
            [
                node("a", zone="z1"),
                careless(pod("p").label(app="web").anti("zone").priority(9)),
                pod("q").label(app="web"),
            ],
            without("InterPodAffinity"),
            2,
            id="anti-affinity of a pod that does not ask keeps away who comes later, not who came before",
        ),
        pytest.param(
            [
                node("a"),
                csi_node("a", volumes=0),
                MAKE,
                *bound("x"),
                careless(pod("p").claim("x")),
                pod("q").claim("x"),
            ],
            without("NodeVolumeLimits"),
            2,
            id="a volume that came without being counted is there for the next",
        ),
        pytest.param(
            [node("a"), device_class(), claim("c", request("r")), careless(user("p", "c")), user("q", "c")],
            without("DynamicResources"),
            1,
            id="claims are nobody's business without DynamicResources",
        ),
        pytest.param(
            [
                node("a"),
                node("b"),
                device_class(),
                slice_on("a", gpu("d0")),
                claim("c", request("r")),
                careless(user("p", "c").select(disk="b")),
                user("q", "c"),
            ],
            without("NodeAffinity", filter=["DynamicResources"]),
            2,
            id="a pod whose filter does not choose devices follows one whose does",
        ),
        pytest.param(
            [
                node("a"),
                device_class(),
                slice_on("a", gpu("d0")),
                claim("c", request("r")),
                careless(user("p", "c")),
            ],
            without(filter=["DynamicResources"]),
            0,
            id="and is left alone where there is none",
        ),
        pytest.param(
            [node("a"), careless(pod("p")), pod("q")],
            without(preFilter=["InterPodAffinity"]),
            1,
            id="a filter that lost its PreFilter places nobody",
        ),
        pytest.param(
            [node("a", zone="z1", cpu="2"), ZONED, careless(SMALL.member("g").times(2))],
            without("NodeResourcesFit"),
            2,
            id="a count that a group wishes for is no matter of room where nothing filters by room",
        ),
    ],
)
def test_how_many_are_placed(objects, configuration, placed):
    snapshot = cluster(*objects, configuration=configuration)
    optimal, _ = check_optimal(snapshot)
    assert len(optimal.placed()) == placed


def test_a_wish_for_room_is_met_where_nothing_filters_by_room():
    objects = [node("a", zone="z1", cpu="2"), ZONED, SMALL.member("g").times(2)]
    short, _ = check_optimal(cluster(*objects))
    met, _ = check_optimal(
        cluster(*objects[:2], careless(objects[2]), configuration=without("NodeResourcesFit"))
    )
    assert [next(t.value for t in plan.tiers if t.name == "desiredCount") for plan in (short, met)] == [4, 0]


@pytest.mark.parametrize("prefer", ["scores", "pack", "spread"])
@pytest.mark.parametrize("seed", range(4))
def test_preferences_are_bounded_under_random_profiles(seed, prefer):
    """The valuation of the tests knows the default weights only, so this asks for proof and replay alone."""
    snapshot = tiny_profiled(seed)
    if unsupported(build_cluster(snapshot)):
        pytest.skip("refused by name")
    optimal, _ = solve_and_replay(snapshot, replace(OPTIONS, prefer=prefer))
    assert all(tier.proven for tier in optimal.tiers) or not optimal.stats.admissible
