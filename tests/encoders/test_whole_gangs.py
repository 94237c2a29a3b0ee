"""Gangs that come with all or with none: their rows, counted by hand, and that no plan breaks them."""

from random import Random

import pytest
from support.builders import cluster, group, node, pod
from support.proof import check_optimal

from kubestow.encoders import pod_groups
from kubestow.encoders.build import build_problem
from kubestow.encoders.context import Context
from kubestow.framework.build import build_cluster

RACKS = [
    node(name, cpu=cpu).label(rack=rack)
    for name, cpu, rack in (("a", "5", "r"), ("b", "3", "r"), ("c", "7", "s"))
]


def gangs(number, size, *keys, cpu="2"):
    """Return like gangs, none of which has more members than it needs."""
    member = pod("m").req(cpu=cpu).priority(10)
    members = [member.named(f"g{k}-{i}").member(f"g{k}") for k in range(number) for i in range(size)]
    return [*members, *(group(f"g{k}", *keys, gang=size, version="v1alpha2") for k in range(number))]


def rows(*objects):
    """Return the right sides of the rows of whole gangs, by the row's name."""
    ctx = Context(build_problem(build_cluster(cluster(*objects))))
    pod_groups.encode(ctx)
    named = {row.name: row.linear.domain[1] for row in ctx.model.proto.constraints if row.name}
    return {name: most for name, most in named.items() if name.startswith(("gangs[", "beside["))}


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [*RACKS, *gangs(4, 2)], {"gangs[default/g0]": 3, "beside[default/g0,cpu]": 6}, id="alike"
        ),
        pytest.param(
            [*RACKS, *gangs(4, 2, "rack")],
            {"gangs[default/g0]": 2, "beside[default/g0,cpu]": 6},
            id="whole gangs in each rack",
        ),
        pytest.param(
            [*RACKS, *gangs(4, 2), pod("w").req(cpu="4").priority(20)],
            {"gangs[default/g0]": 3, "beside[default/g0,cpu]": 6},
            id="a pod of another level beside them",
        ),
        pytest.param(
            [*RACKS, *gangs(4, 2), pod("w").req(cpu="4").priority(10)],
            {"gangs[default/g0]": 3},
            id="a pod of their own level",
        ),
        pytest.param([*RACKS, *gangs(3, 2)], {}, id="as many as there is room for"),
        pytest.param(
            [*RACKS, *gangs(5, 2), pod("g0-9").req(cpu="2").priority(10).member("g0")],
            {"gangs[default/g1]": 3},
            id="one has more members than it needs",
        ),
        pytest.param(
            [*RACKS, *gangs(4, 2), pod("g0-9").req(cpu="2").priority(10).member("g0").on("a")],
            {"gangs[default/g1]": 2},
            id="one has a running member",
        ),
    ],
)
def test_the_rows(objects, expected):
    assert rows(*objects) == expected


@pytest.mark.parametrize("seed", range(16))
def test_no_plan_is_lost(seed):
    """All tiers are those of the exhaustive search: racks, evictions and other levels beside the gangs."""
    rng = Random(seed)
    nodes = [node(f"n{k}", cpu=rng.choice("345")).label(rack=rng.choice("rs")) for k in range(3)]
    running = [
        pod(f"v{k}").req(cpu=rng.choice("12")).priority(rng.choice((0, 50))).on(f"n{k}")
        for k in range(3)
        if rng.random() < 0.6
    ]
    beside = [pod("w").req(cpu=rng.choice("123")).priority(rng.choice((5, 10, 20)))]
    keys = ["rack"] if rng.random() < 0.5 else []
    snapshot = cluster(*nodes, *running, *beside, *gangs(3, 2, *keys, cpu=rng.choice("12")))
    check_optimal(snapshot)
