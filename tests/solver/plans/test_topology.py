"""Who is where after a round: the facts of the picture."""

import pytest
from support.builders import KEYS, cluster, group, node, pod
from support.devices import (
    alternative,
    claim,
    device_class,
    first_of,
    gpu,
    model,
    request,
    slice_,
    slice_on,
    user,
    zone,
)
from support.grouped import rack

from kubestow.framework.build import build_cluster
from kubestow.models.errors import InputError
from kubestow.solver.api import SolveOptions, solve_greedy_round, solve_round
from kubestow.solver.plans.topology import chosen_key, topology

OPTIONS = SolveOptions(workers=1)
MEMBER = pod("m").req(cpu="2").priority(10).member("g")
RACKS = [rack("r1", ("a", 4), ("b", 4)), rack("r10", ("c", 4)), rack("r2", ("d", 4))]


def seen(*objects, key=None):
    snapshot = cluster(*objects)
    return topology(solve_round(snapshot, OPTIONS), key)


# name -> (objects, the key that is chosen)
KEYS_OF_ROUNDS = {
    "what most pod groups require": (
        [
            node("a").label(rack="r1", row="w1", block="b1"),
            [group("g", "row"), group("h", "rack"), group("i", "rack", "block")],
            [pod(name).member(name) for name in "ghi"],
        ],
        "rack",
    ),
    "of two the one with more domains": (
        [
            node("a").label(rack="r1", block="b1"),
            node("b").label(rack="r2", block="b1"),
            group("g", "block", "rack"),
            MEMBER,
        ],
        "rack",
    ),
    "not a key that no node has": (
        [node("a", zone="z1"), group("g", "rack"), MEMBER],
        KEYS["zone"],
    ),
    "not what groups want of which nobody waits": (
        [node("a").label(rack="r1"), group("g", "rack"), pod("old").member("g").on("a"), pod("p")],
        None,
    ),
    "a wish where nothing is required": (
        [
            node("a", zone="z1").label(rack="r1"),
            group("g", schedulingConstraints={"topology": [{"key": "rack", "mode": "Preferred"}]}),
            MEMBER,
        ],
        "rack",
    ),
    "what reaches devices": (
        [
            node("a", zone="z1").label({KEYS["region"]: "e"}),
            device_class(),
            slice_("net", gpu("n0"), nodeSelector=zone("z1")),
            pod("p").spread("region"),
        ],
        KEYS["zone"],
    ),
    "what pods spread over": ([node("a").label(rack="r1"), pod("p").spread("rack")], "rack"),
    "what pods are drawn to": (
        [node("a").label(rack="r1"), pod("p").label(app="x").affinity("rack")],
        "rack",
    ),
    "but never single nodes": ([node("a"), pod("p").label(app="x").anti("hostname")], None),
    "zones where nobody says anything": ([node("a", zone="z1"), pod("p")], KEYS["zone"]),
}


@pytest.mark.parametrize("name", KEYS_OF_ROUNDS)
def test_the_key_is_what_the_round_turns_on(name):
    objects, key = KEYS_OF_ROUNDS[name]
    assert chosen_key(build_cluster(cluster(objects))) == key


def test_domains_and_nodes_are_in_the_order_of_their_numbers():
    picture = seen(RACKS, group("g", "rack"), MEMBER)
    assert [d.domain for d in picture.domains] == ["r1", "r2", "r10"]
    assert [n.node for n in picture.domains[0].nodes] == ["a", "b"]


def test_nodes_without_the_label_are_a_domain_of_their_own_and_the_last_one():
    picture = seen(RACKS, node("x"), group("g", "rack"), MEMBER)
    assert picture.domains[-1].domain is None
    assert [n.node for n in picture.domains[-1].nodes] == ["x"]


def test_without_a_key_all_nodes_are_one_domain():
    picture = seen(node("a"), node("b"), pod("p"))
    assert picture.key is None
    assert [len(d.nodes) for d in picture.domains] == [2]


def test_a_key_may_be_asked_for():
    assert [d.domain for d in seen(node("a"), node("b"), pod("p"), key=KEYS["hostname"]).domains] == [
        "a",
        "b",
    ]


def test_a_key_that_no_node_has_is_refused():
    with pytest.raises(InputError, match="no node has the label rack; there are: kubernetes"):
        seen(node("a"), pod("p"), key="rack")


def test_other_keys_of_groups_are_told_where_a_domain_has_one_value():
    nodes = [node("a").label(rack="r1", block="b1"), node("b").label(rack="r1", block="b1")]
    nodes += [node("c").label(rack="r2", block="b1"), node("d").label(rack="r2", block="b2")]
    picture = seen(nodes, group("g", "rack", "block"), MEMBER, key="rack")
    assert [d.within for d in picture.domains] == [{"block": "b1"}, {}]


def test_pods_are_placed_running_or_evicted():
    victim = pod("v").req(cpu="4").priority(0).on("a")
    stays = pod("s").req(cpu="1").priority(20).on("b")
    picture = seen(rack("r1", ("a", 4), ("b", 4)), victim, stays, pod("p").req(cpu="4").priority(10))
    (domain,) = picture.domains
    assert [[(p.pod, p.state) for p in n.pods] for n in domain.nodes] == [
        [("default/p", "placed"), ("default/v", "evicted")],
        [("default/s", "running")],
    ]


def test_greedys_plan_is_seen_the_same_way():
    snapshot = cluster(rack("r1", ("a", 4)), group("g", "rack", gang=2), MEMBER.times(2))
    picture = topology(solve_greedy_round(snapshot))
    assert [p.pod_group for p in picture.domains[0].nodes[0].pods] == ["default/g", "default/g"]


def test_groups_say_how_many_came_and_stand_and_where():
    picture = seen(
        RACKS,
        group("g", "rack", gang=2),
        group("h", gang=3),
        MEMBER.named("old").on("a"),
        MEMBER.times(3),
        pod("n").req(cpu="4").member("h").times(3),
        pod("late").member("h").gated(),
    )
    g, h = picture.groups
    assert (g.placed, g.waiting, g.standing, g.min_count, g.domains) == (3, 3, 4, 2, ("r1",))
    assert (h.placed, h.waiting, h.standing, h.min_count, h.domains) == (0, 4, 0, 3, ())


def test_amounts_are_cpu_and_what_waiting_pods_ask_for_by_name():
    picture = seen(
        node("a", cpu="4").offer({"example.com/gpu": "2", "example.com/fpga": "1"}),
        pod("p").req({"cpu": "500m", "example.com/gpu": "1"}),
    )
    (only,) = picture.domains[0].nodes
    assert [(a.resource, a.requested, a.allocatable) for a in only.amounts] == [
        ("cpu", 500, 4000),
        ("example.com/gpu", 1, 2),
    ]


GPUS = [node("a", zone="z1"), node("b", zone="z1"), node("c", zone="z2"), device_class()]


def states(devices):
    return [(d.device, d.state, d.placed, d.holders) for d in devices]


def test_devices_are_where_they_are_reached_from():
    picture = seen(
        GPUS,
        slice_on("a", gpu("g0")),
        slice_("net", gpu("n0"), nodeSelector=zone("z1")),
        slice_("far", gpu("f0"), allNodes=True),
        slice_on("c", gpu("old"), name="c-old", generation=0),
        slice_on("c", gpu("g0")),
    )
    z1, z2 = picture.domains
    assert [d.device for d in z1.nodes[0].devices] == ["a/g0"]
    assert [d.device for d in z1.devices] == ["net/n0"]
    assert [d.device for d in z2.nodes[0].devices] == ["c/g0"]
    assert [d.device for d in picture.devices] == ["far/f0"]


def test_devices_are_free_or_somebodys():
    picture = seen(
        GPUS,
        slice_on("a", gpu("g0"), gpu("g1"), gpu("g2"), gpu("g3")),
        claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
        user("v", "held").priority(20).on("a"),
        claim("idle", has=[("r", "a", "g1")], at="a"),
        [claim("x"), group("g", gang=1), user("p", "x").member("g")],
    )
    assert states(picture.domains[0].nodes[0].devices) == [
        ("a/g0", "taken", False, ("default/v",)),
        ("a/g1", "taken", False, ("claim default/idle",)),
        ("a/g2", "taken", True, ("default/g",)),
        ("a/g3", "free", False, ()),
    ]


def test_what_a_victim_gives_back_belongs_to_who_took_it():
    picture = seen(
        GPUS[:1],
        device_class(),
        slice_on("a", gpu("g0")),
        claim("held", has=[("r", "a", "g0")], at="a", users=["v"]),
        user("v", "held").priority(0).on("a"),
        claim("x"),
        user("p", "x").priority(10),
    )
    assert states(picture.domains[0].nodes[0].devices) == [("a/g0", "taken", True, ("default/p",))]


def test_admin_access_takes_nothing():
    picture = seen(GPUS, slice_on("a", gpu("g0")), claim("x", request("r", admin=True)), user("p", "x"))
    assert states(picture.domains[0].nodes[0].devices) == [("a/g0", "free", False, ())]


def test_a_share_has_several_holders():
    shared = gpu("g0", shared=True, capacity={"memory": "4"})
    picture = seen(
        GPUS[:1],
        device_class(),
        slice_on("a", shared),
        [claim(c, request("r", capacity={"memory": "2"})) for c in "xy"],
        user("p", "x"),
        user("q", "y"),
    )
    assert states(picture.domains[0].nodes[0].devices) == [
        ("a/g0", "taken", True, ("default/p", "default/q"))
    ]


def test_a_card_whose_half_is_taken_is_spent():
    full = gpu("full", takes={"card": {"memory": "4"}}, model="full")
    halves = [gpu(f"half-{k}", takes={"card": {"memory": "2"}}, model="half") for k in range(2)]
    picture = seen(
        GPUS[:1],
        device_class(),
        slice_on("a", full, *halves, counters={"card": {"memory": "4"}}),
        claim("x", first_of("r", alternative("half", model("half")))),
        user("p", "x"),
    )
    assert [d.state for d in picture.domains[0].nodes[0].devices] == ["spent", "taken", "free"]


def test_a_claim_of_the_group_is_the_groups():
    picture = seen(
        GPUS[:1],
        device_class(),
        slice_on("a", gpu("g0")),
        claim("x"),
        group("g", gang=2, resourceClaims=[{"name": "e0", "resourceClaimName": "x"}]),
        [user(name, "x").member("g") for name in "pq"],
    )
    assert states(picture.domains[0].nodes[0].devices) == [("a/g0", "taken", True, ("default/g",))]
