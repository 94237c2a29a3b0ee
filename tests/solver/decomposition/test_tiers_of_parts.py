"""Every part has the tiers of the round, also those that only one part gives a meaning, on every engine."""

from dataclasses import replace

import pytest
from support.apart import APART, WHOLE, parts_of, solved
from support.builders import budget, cluster, group, node, pod
from support.devices import alternative as other
from support.devices import claim, device_class, first_of, gpu, slice_on, user
from support.proof import OPTIONS, check_same

from kubestow.models import tiers
from kubestow.models.tiers import DESIRED_COUNT, FALLBACK, FIRST_AVAILABLE, PREFERRED_TOPOLOGY

PREFERRED = {"topology": [{"key": "rack", "mode": "Preferred"}]}


def pool(name):
    """Two nodes of a pool, each a zone and a rack of its own."""
    return [
        node(f"{name}{k}", zone=f"{name}z{k}", cpu="2").label(pool=name, rack=f"{name}r{k}") for k in (1, 2)
    ]


def waiting(name, copies=2):
    return pod(name).req(cpu="1").priority(10).select(pool=name[0]).label(app=name).times(copies)


# Each row: what a tier needs in pool a, and the tier; pool b is the same in all of them.
ROWS = [
    pytest.param(
        [
            waiting("a", 3).member("g"),
            group("g", gang=3, schedulingConstraints=PREFERRED),
        ],
        PREFERRED_TOPOLOGY,
        1,
        "none",
        id="a group that prefers a topology",
    ),
    pytest.param(
        [waiting("a").member("g"), group("g", "rack", desired=3)],
        DESIRED_COUNT,
        1,
        "none",
        id="a group that expects more members than its domain holds",
    ),
    pytest.param(
        [
            device_class(),
            slice_on("a1", gpu("only")),
            claim("c", first_of("r", other("two", count=2), other("one"))),
            user("a", "c").req(cpu="1").priority(10).select(pool="a"),
        ],
        FIRST_AVAILABLE,
        1,
        "none",
        id="a request for the first alternative that can be had",
    ),
    pytest.param(
        [
            pod("va").on("a1").req(cpu="2").priority(50),
            waiting("a").spread("zone", fallback=["PreemptionFailed"]).unschedulable(),
        ],
        FALLBACK,
        1,
        "none",
        id="a constraint that falls back",
    ),
    pytest.param(
        [pod("aa").req(cpu="1").priority(77).select(pool="a")],
        tiers.scheduled(77),
        1,
        "none",
        id="a priority",
    ),
    pytest.param(
        [
            *(pod(f"va{k}").on(f"a{k}").req(cpu="2").priority(-5).label(app="old") for k in (1, 2)),
            pod("a").req(cpu="2").priority(10).select(pool="a"),
            budget("b", {"app": "old"}, allowed=0),
        ],
        tiers.violations(10),
        1,
        "none",
        id="a budget",
    ),
    pytest.param(
        [
            *(pod(f"va{k}").on(f"a{k}").req(cpu="2").priority(-5) for k in (1, 2)),
            pod("a").req(cpu="2").priority(10).select(pool="a"),
        ],
        tiers.evicted(10, -5),
        1,
        "none",
        id="a priority of victims",
    ),
    pytest.param(
        [waiting("a").wish_nodes(7, "rack", "In", "ar1")], "scores", 28, "scores", id="a soft criterion"
    ),
    pytest.param([waiting("a")], "pack", 2, "pack", id="nodes in use"),
    pytest.param([waiting("a")], "spread", 4, "spread", id="load of nodes"),
    pytest.param(
        [pod("a").req(cpu="64").priority(10).select(pool="a").member("g"), group("g", gang=1)],
        "spread",
        2,
        "spread",
        id="a part in which no pod can stand anywhere",
    ),
]


def round_of(objects):
    return cluster(*pool("a"), *pool("b"), *objects, waiting("b"))


def check(objects, tier, value, options):
    snapshot = round_of(objects)
    assert len(parts_of(snapshot, options.prefer)) > 1
    whole, apart = solved(snapshot, WHOLE, options), solved(snapshot, APART, options)
    assert [t.name for t in whole.tiers] == [t.name for t in apart.tiers]
    assert whole.status == apart.status == "OPTIMAL"
    check_same(snapshot, whole, apart)
    assert {t.name: t.value for t in apart.tiers}[tier] == value


@pytest.mark.parametrize("workers", [1, 2], ids=["one after the other", "in processes"])
@pytest.mark.parametrize("objects, tier, value, prefer", ROWS)
def test_a_tier_of_one_part_is_a_tier_of_the_round(objects, tier, value, prefer, workers):
    check(objects, tier, value, replace(OPTIONS, prefer=prefer, workers=workers))


@pytest.fixture(scope="module")
def scheduler():
    """The address of a Dask scheduler whose workers are threads."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=2,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as threads:
        yield threads.scheduler_address


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("objects, tier, value, prefer", ROWS)
def test_a_tier_of_one_part_is_a_tier_of_the_round_on_dask(objects, tier, value, prefer, scheduler):
    check(objects, tier, value, replace(OPTIONS, prefer=prefer, engine="dask", dask=scheduler))


def test_every_optional_tier_has_a_row():
    """The tiers of the rows are those that any round can have, level by level aside."""
    named = {row.values[1].partition("[")[0] for row in ROWS}
    assert named == {
        "scheduled",
        "violations",
        "evicted",
        FALLBACK,
        FIRST_AVAILABLE,
        DESIRED_COUNT,
        PREFERRED_TOPOLOGY,
        *(name for name in tiers.PREFERENCES if name != "none"),
    }
