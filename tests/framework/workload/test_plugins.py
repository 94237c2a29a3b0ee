import pytest
from support.builders import group, node, pod
from support.devices import alternative, claim, device_class, first_of, gpu, request, slice_, slice_on, user
from support.grouped import CURRENT, Grouped, rack

from kubestow.framework.workload.bin_packing import PlacementBinPacking
from kubestow.framework.workload.devices import free_devices
from kubestow.framework.workload.pod_count import PlacementPodCountScorer
from kubestow.framework.workload.prefilter import Room
from kubestow.framework.workload.scores import NodeResourcesFitOfPlacement, PodGroupPodsCount
from kubestow.models.config import CPU_AND_MEMORY

#   r1          r2       r3     lost
#   a 4  b 4    c 6      d 1    8 cpu, no rack
NODES = [
    *rack("r2", ("c", 6)),
    *rack("r1", ("a", 4), ("b", 4)),
    *rack("r3", ("d", 1)),
    node("lost", cpu="8"),
]
UNDECIDED = "cannot determine domain for already scheduled pods: "
TWO_CPU = pod("p").member("g").req(cpu="2")


@pytest.mark.parametrize(
    "objects, placements",
    [
        pytest.param([group("g")], {"": ["c", "a", "b", "d", "lost"]}, id="no key: the whole cluster"),
        pytest.param(
            [group("g", "rack")],
            {"r1": ["a", "b"], "r2": ["c"], "r3": ["d"]},
            id="one for each rack, by name",
        ),
        pytest.param(
            [group("g", "rack"), pod("r").member("g").on("b")],
            {"r1": ["a", "b"]},
            id="a running member pins it",
        ),
        pytest.param(
            [group("g", "rack", "kubernetes.io/hostname")],
            {"r1/a": ["a"], "r1/b": ["b"], "r2/c": ["c"], "r3/d": ["d"]},
            id="a second key divides on",
        ),
        pytest.param(
            [group("g", "rack", "kubernetes.io/hostname"), pod("r").member("g").on("b")],
            {"r1/b": ["b"]},
            id="each key is pinned",
        ),
        pytest.param(
            [group("g", "rack"), pod("r").member("g").on("b"), pod("s").member("g").on("c")],
            UNDECIDED + "more than 1 domain found for pod group: r1, r2",
            id="two racks pin nothing",
        ),
        pytest.param(
            [group("g", "rack"), pod("r").member("g").on("lost")],
            UNDECIDED + "no topology domain found for pod default/r",
            id="off the key",
        ),
        pytest.param(
            [group("g", "row")], "no placement: no node has the labels row", id="nobody has the label"
        ),
    ],
)
@pytest.mark.parametrize("configuration", [None, CURRENT], ids=["proposal", "current"])
def test_placements(objects, placements, configuration):
    assert Grouped(NODES, *objects, TWO_CPU, configuration=configuration).placements() == placements


def test_keys_that_cross_leave_out_what_is_empty():
    nodes = [
        node("a").label(rack="r1", power="p1"),
        node("b").label(rack="r1", power="p2"),
        node("c").label(rack="r2", power="p2"),
    ]
    found = Grouped(nodes, group("g", "rack", "power"), TWO_CPU).placements()
    assert found == {"r1/p1": ["a"], "r1/p2": ["b"], "r2/p2": ["c"]}


class Scored(Grouped):
    """Scores of the placements of the one group, with given members on nodes."""

    def score(self, make, **assignment):
        scorer = make(self.cluster)
        index, names = self.cluster.pod_index, self.cluster.node_index
        there = {index[f"default/{p.replace('_', '-')}"]: names[n] for p, n in assignment.items()}
        found = [self.everywhere()]
        for generator in self.variant.generators:
            found = generator.generate_placements(self.state, self.info, found)
        return {
            p.name: scorer.score_placement(self.state, self.info, p, there)
            for p in found
            if all(p.nodes[n] for n in there.values())
        }


def fit(cluster):
    return NodeResourcesFitOfPlacement(cluster, CPU_AND_MEMORY)


RACKS = (NODES, group("g", "rack", gang=3), TWO_CPU.times(3))


@pytest.mark.parametrize(
    "scorer, in_r1, in_r2",
    [
        pytest.param(PlacementBinPacking, 75, 100, id="bin packing prefers the rack that is full then"),
        pytest.param(PlacementPodCountScorer, 4, 3, id="the pod count the one with room for a fourth"),
    ],
)
def test_the_proposals_scores(scorer, in_r1, in_r2):
    """The worked example: r1 has 8 cpu on two nodes, r2 6 on one, the group asks for 6."""
    round_ = Scored(*RACKS)
    assert round_.score(scorer, p_0="a", p_1="a", p_2="b") == {"r1": in_r1}
    assert round_.score(scorer, p_0="c", p_1="c", p_2="c") == {"r2": in_r2}


def test_the_current_scores():
    """The same example: 100 against 75 of cpu; both hold three of three."""
    memory = [n.offer(memory="6Gi") for n in rack("r2", ("c", 6))] + [
        n.offer(memory="4Gi") for n in rack("r1", ("a", 4), ("b", 4))
    ]
    round_ = Scored(memory, group("g", "rack", gang=3), TWO_CPU.req(memory="2Gi").times(3))
    assert round_.score(fit, p_0="a", p_1="a", p_2="b") == {"r1": 75}
    assert round_.score(fit, p_0="c", p_1="c", p_2="c") == {"r2": 100}
    count = PodGroupPodsCount(round_.cluster)
    assert count.normalize_scores([3, 3]) == [100, 100]
    assert count.normalize_scores([3, 4, 1]) == [75, 100, 25]


def test_members_that_ran_before_count_in_the_current_form():
    round_ = Scored(NODES, group("g", "rack"), pod("r").member("g").on("a"), TWO_CPU.times(2))
    assert round_.score(PodGroupPodsCount, p_0="a") == {"r1": 2}


@pytest.mark.parametrize(
    "running, asks, share",
    [
        pytest.param([], {"cpu": "3"}, 50.0, id="of one resource"),
        pytest.param([pod("x").req(cpu="3").on("c")], {"cpu": "3"}, 100.0, id="with what others take"),
        pytest.param([], {"cpu": "3", "memory": "8Gi"}, 75.0, id="the mean of two"),
        pytest.param(
            [pod("x").req(memory="8Gi").on("c")], {"cpu": "3"}, 50.0, id="not of what is not asked for"
        ),
        pytest.param([pod("x").req(cpu="9").on("c")], {"cpu": "3"}, 100.0, id="never more than all"),
        pytest.param([], {"cpu": "0"}, 0.0, id="nothing is asked for"),
        pytest.param([], {"example.com/gpu": "1"}, 0.0, id="nobody has it"),
    ],
)
def test_bin_packing(running, asks, share):
    round_ = Scored(rack("r2", ("c", 6)), group("g", "rack"), running, pod("p").member("g").req(asks))
    assert round_.score(PlacementBinPacking, p="c") == {"r2": share}


@pytest.mark.parametrize(
    "extra, pods, count",
    [
        pytest.param({}, TWO_CPU, 4, id="by cpu"),
        pytest.param({}, TWO_CPU.req(memory="7Gi"), 2, id="by the scarcest"),
        pytest.param({"pods": "1"}, TWO_CPU, 2, id="by slots"),
        pytest.param({}, TWO_CPU.select(rack="r2"), 1, id="only where a pod may go: the assignment counts"),
    ],
)
def test_how_many_pods_fit(extra, pods, count):
    nodes = [n.offer(extra) for n in rack("r1", ("a", 4), ("b", 4))]
    assert Scored(nodes, group("g", "rack"), pods).score(PlacementPodCountScorer, p="a") == {"r1": count}


def test_the_largest_pod_set_is_what_more_pods_are_like():
    small = pod("s").member("g").req(cpu="1").times(2)
    round_ = Scored(rack("r1", ("a", 8)), group("g", "rack"), TWO_CPU.priority(5), small)
    assert round_.score(PlacementPodCountScorer, p="a", s_0="a", s_1="a") == {"r1": 3 + 4}


@pytest.mark.parametrize(
    "objects, needed, too_small",
    [
        pytest.param([TWO_CPU.times(3)], 3, [], id="enough in both"),
        pytest.param([TWO_CPU.times(4)], 4, ["r2"], id="not for a fourth"),
        pytest.param([TWO_CPU.times(4)], 0, [], id="nothing is needed"),
        pytest.param(
            [TWO_CPU.req(cpu="3").times(3)], 3, ["r1", "r2"], id="node by node: 3 cpu fit once into 4"
        ),
        pytest.param(
            [TWO_CPU.times(2), TWO_CPU.named("q").req(cpu="5")], 3, ["r1", "r2"], id="the sum is too much"
        ),
        pytest.param(
            [TWO_CPU.times(2), TWO_CPU.named("q").req(cpu="5")], 2, [], id="but two of three are not"
        ),
        pytest.param(
            [TWO_CPU.times(3), pod("x").req(cpu="1").on("c")], 3, ["r2"], id="running pods take room"
        ),
        pytest.param([TWO_CPU.select(hostname="c").times(2)], 2, ["r1"], id="only nodes where a pod may go"),
    ],
)
def test_prefilter(objects, needed, too_small):
    round_ = Scored(rack("r1", ("a", 4), ("b", 4)), rack("r2", ("c", 6)), group("g", "rack"), objects)
    room = Room(round_.cluster, round_.state, round_.info)
    found = [round_.everywhere()]
    for generator in round_.variant.generators:
        found = generator.generate_placements(round_.state, round_.info, found)
    assert [p.name for p in found if room.too_small(p, needed)] == too_small


DEVICES = [
    device_class(),
    slice_on("a", gpu("g0"), gpu("g1")),
    slice_on("b", gpu("g0")),
    slice_on("c", gpu("g0")),
    claim("busy", has=[("r", "a", "g0")], at="a", users=["x"]),
    *(claim(f"c{k}") for k in range(3)),
    claim("two", request("r", count=2)),
    claim("some", first_of("r", alternative("many", count=4), alternative("few", count=2))),
    claim("every", request("r", mode="All")),
    claim("watch", request("r", admin=True)),
]


def users(*claims):
    return [user(f"p{k}", *names).member("g") for k, names in enumerate(claims)]


@pytest.mark.parametrize(
    "members, needed, too_small",
    [
        pytest.param(users(["c0"], ["c1"]), 2, ["r2"], id="a device each: three are free, two in r1"),
        pytest.param(users(["c0"], ["c1"], ["c2"]), 3, ["r1", "r2"], id="not for a third"),
        pytest.param(users(["two"]), 1, ["r1", "r2"], id="two on one node"),
        pytest.param(users(["some"]), 1, ["r1", "r2"], id="the least of several alternatives"),
        pytest.param(users(["every"]), 1, [], id="all there are, one at least"),
        pytest.param(users(["watch"], ["watch"]), 2, [], id="an administrator takes none"),
        pytest.param(users(["c0"], ["c0"]), 2, [], id="a common claim is no claim of each"),
        pytest.param(users(["c0"], []), 2, [], id="one member needs none"),
        pytest.param(users(["c0"], ["missing"]), 2, [], id="a claim is missing"),
        pytest.param(users(["busy"], ["c1"]), 2, [], id="one has its devices already"),
    ],
)
def test_prefilter_by_devices(members, needed, too_small):
    round_ = Scored(NODES[:3], DEVICES, group("g", "rack"), members)
    room = Room(round_.cluster, round_.state, round_.info)
    (found,) = [
        g.generate_placements(round_.state, round_.info, [round_.everywhere()])
        for g in round_.variant.generators
    ]
    assert [p.name for p in found if room.too_small(p, needed)] == too_small


def test_devices_that_several_nodes_reach_count_everywhere():
    wide = slice_("wide", gpu("g0"), gpu("g1"), allNodes=True)
    round_ = Scored(
        NODES[:3], device_class(), wide, [claim(f"c{k}") for k in range(3)], group("g"), users(["c0"])
    )
    assert free_devices(round_.cluster, round_.state).tolist() == [2, 2, 2]


def test_devices_that_may_be_shared_give_no_bound():
    shared = slice_on("a", gpu("g0", shared=True))
    round_ = Scored(NODES[:3], device_class(), shared, claim("c0"), group("g"), users(["c0"]))
    assert free_devices(round_.cluster, round_.state) is None
