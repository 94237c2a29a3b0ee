import pytest
from support.builders import budget, cluster, group, node, pod
from support.moves import in_words

from kubestow.framework.build import build_cluster
from kubestow.framework.runs.greedy import run_to_quiescence


class Run:
    """The greedy baseline over a cluster, in names."""

    def __init__(self, *objects, **more):
        self.cluster = build_cluster(cluster(*objects, **more))
        self.outcome = run_to_quiescence(self.cluster)

    def name(self, i):
        return self.cluster.pods[i].pod.name

    @property
    def steps(self):
        return in_words(self.cluster, self.outcome.steps)

    @property
    def placed(self):
        return {self.name(i): self.cluster.node_names[n] for i, n in self.outcome.node_of_new.items()}

    @property
    def nominations(self):
        return {
            self.name(i): [self.name(j) for j in victims]
            for i, (_, victims) in self.outcome.nominations.items()
        }

    @property
    def victims(self):
        return {self.name(v): self.name(p) for v, _, p in self.outcome.victims}


BIG = pod("p").req(cpu="2").priority(10)


def one(name="n", cpu="2"):
    return node(name, cpu=cpu)


def v(name="v", *, on="n", priority=0, cpu="2"):
    return pod(name).req(cpu=cpu).priority(priority).on(on)


@pytest.mark.parametrize(
    "objects, steps",
    [
        pytest.param([one(), BIG], ["bind p n"], id="a pod that fits is bound"),
        pytest.param([one(cpu="1"), BIG], [], id="one that does not waits"),
        pytest.param(
            [one(), v(), BIG], ["mark v", "leave v", "bind p n"], id="victims leave, then the preemptor binds"
        ),
        pytest.param(
            [one(), v("v", cpu="1"), v("w", cpu="1"), BIG, pod("q").req(cpu="1")],
            ["mark v", "mark w", "leave v", "leave w", "bind p n"],
            id="all victims of a pass leave together",
        ),
        pytest.param(
            [one(cpu="3"), v(cpu="3"), BIG, pod("q").req(cpu="1")],
            ["mark v", "leave v", "bind p n", "bind q n"],
            id="what victims leave free is for the next pass",
        ),
        pytest.param(
            [one(), pod("q").req(cpu="2").priority(5).nominated("n"), v(priority=3), BIG],
            ["mark v", "leave v", "bind p n"],
            id="a preemptor takes the room of a lower nominated pod",
        ),
        pytest.param(
            [one(), v().terminating(), BIG],
            ["leave v", "bind p n"],
            id="who terminates already leaves for its preemptor without a mark",
        ),
        pytest.param(
            [
                one(),
                pod("q").req(cpu="2").nominated("n").never(),
                v(priority=0).terminating(),
                v("w", cpu="0"),
            ],
            [],
            id="a nomination of the input that does not fit is lost",
        ),
        pytest.param(
            [
                one("a", cpu="2"),
                one("b", cpu="4"),
                pod("x").req(cpu="1").created(9),
                pod("y").req(cpu="4").created(5),
            ],
            ["bind x b"],
            id="a pod bound early may keep a later one out",
        ),
    ],
)
def test_steps(objects, steps):
    assert Run(*objects).steps == steps


GOING = v(cpu="2").terminating().condition("DisruptionTarget", "True", reason="PreemptionByScheduler")


@pytest.mark.parametrize(
    "objects, steps, waits",
    [
        pytest.param(
            [one(), one("m"), GOING, v("w", on="m", priority=-5), BIG.nominated("n")],
            [],
            {"p": "n"},
            id="for a victim of the scheduler, although a lesser pod stands elsewhere",
        ),
        pytest.param(
            [one(), one("m"), GOING, v("w", on="m", priority=-5), BIG],
            ["mark w", "leave w", "bind p m"],
            {},
            id="not without a nomination there",
        ),
        pytest.param(
            [one(), one("m"), v().terminating(), v("w", on="m", priority=-5), BIG.nominated("n")],
            ["mark w", "leave w", "bind p m"],
            {},
            id="not for a pod that somebody else deletes",
        ),
        pytest.param(
            [one(), one("m"), GOING.priority(10), v("w", on="m", priority=-5), BIG.nominated("n")],
            ["mark w", "leave w", "bind p m"],
            {},
            id="not for a pod that is no less important",
        ),
        pytest.param(
            [one(), one("m"), GOING, BIG.nominated("n")],
            ["bind p m"],
            {},
            id="not where another node is free",
        ),
        pytest.param(
            [one(), one("m"), GOING, v("w", on="m", priority=7), BIG.nominated("n"), pod("q").req(cpu="2")],
            [],
            {"p": "n"},
            id="and holds the room against lesser pods",
        ),
        pytest.param(
            [
                one(),
                v(),
                BIG.named("q").created(9).select(hostname="n"),
                BIG.created(1).nominated("n"),
            ],
            ["mark v", "leave v", "bind p n"],
            {},
            id="for a victim that another pod makes in the same pass, whose room it takes",
        ),
        pytest.param(
            [
                one(cpu="4"),
                GOING,
                BIG.named("u").req(cpu="1500m").priority(50),
                BIG.req(cpu="3").nominated("n"),
                pod("s").req(cpu="500m"),
            ],
            ["bind u n", "bind s n"],
            {},
            id="not where the room will not be enough, since a more important pod took of it",
        ),
    ],
)
def test_who_waits_for_a_terminating_pod_on_its_nominated_node(objects, steps, waits):
    run = Run(*objects)
    names = run.cluster.node_names
    assert run.steps == steps
    assert {run.name(i): names[n] for i, n in run.outcome.state.nominated.items()} == waits


def test_nominated_pods_keep_their_victims_after_they_have_bound():
    run = Run(one(), v(), BIG)
    assert run.placed == {"p": "n"}
    assert run.nominations == {"p": ["v"]}
    assert run.victims == {"v": "p"}
    assert run.outcome.state.node_of[run.cluster.pod_index["default/p"]] == 0
    assert run.outcome.passes == 2


def test_a_pod_that_was_bound_may_be_evicted_by_a_later_pass():
    # `high` must be beside `friend`, which comes later in the queue; meanwhile `low` takes its only node.
    run = Run(
        node("a", zone="z", cpu="2"),
        node("b", zone="z", cpu="2"),
        pod("high").req(cpu="2").priority(10).select(hostname="a").affinity("zone", {"app": "friend"}),
        pod("friend").req(cpu="1").priority(5).label(app="friend").select(hostname="b"),
        pod("low").req(cpu="1").select(hostname="a"),
    )
    assert run.steps == ["bind friend b", "bind low a", "mark low", "leave low", "bind high a"]
    assert run.placed == {"friend": "b", "high": "a"}
    assert run.victims == {"low": "high"}


def test_an_eviction_may_be_wasted():
    # `q` does not see that `p`, which keeps others out of the zone, is nominated to the other node.
    run = Run(
        node("a", zone="z", cpu="2"),
        node("b", zone="z", cpu="2"),
        v("v", on="a"),
        v("w", on="b"),
        BIG.select(hostname="a").anti("zone", {"app": "q"}).created(9),
        pod("q").label(app="q").req(cpu="2").priority(10).select(hostname="b").created(1),
    )
    assert run.placed == {"p": "a"}
    assert run.victims == {"v": "p", "w": "q"}
    assert run.nominations == {"p": ["v"]}


@pytest.mark.parametrize(
    "allowed, placed",
    [
        pytest.param(1, {"p": "a"}, id="the first pass's victim has used the only disruption"),
        pytest.param(2, {"p": "a", "q": "b"}, id="there is one left"),
    ],
)
def test_budgets_drop_by_the_victims_of_a_pass(allowed, placed):
    # `q` must be beside `p`, so that its turn comes in the second pass only; its victim is guarded.
    run = Run(
        node("a", zone="z", cpu="2"),
        node("b", zone="z", cpu="2"),
        v("v", on="a").label(app="x"),
        v("w", on="b").label(app="x").guard(100),
        budget("k", allowed=allowed, app="x"),
        BIG.label(app="first").select(hostname="a"),
        pod("q").req(cpu="2").priority(9).select(hostname="b").affinity("zone", {"app": "first"}),
    )
    assert run.placed == placed


def test_an_unguarded_victim_is_paid_for_after_its_pass():
    run = Run(
        one("a"),
        one("b"),
        v("v", on="a").label(app="x"),
        v("w", on="b").label(app="x").guard(100),
        budget("k", allowed=1, app="x"),
        BIG.select(hostname="a"),
        pod("q").req(cpu="2").priority(9).select(hostname="b"),
    )
    assert run.placed == {"p": "a", "q": "b"}


def test_identical_pods_that_fail_are_tried_once():
    run = Run(one(cpu="1"), pod("p").req(cpu="2").times(50))
    assert (run.steps, run.outcome.passes) == ([], 1)


def test_gated_and_foreign_pods_are_left_alone():
    assert Run(one(), pod("g").gated(), pod("f").scheduler("other")).steps == []
    assert Run(one(), pod("g").gated(), gates="PodSchedulingReadiness=false").steps == ["bind g n"]


MEMBER = pod("m").member("g").label(app="x").priority(10).spread("hostname")
MOVED = [
    node("a", cpu="10"),
    node("b", cpu="2"),
    group("g", gang=3),
    v(on="a", cpu="7"),
    MEMBER.named("m1").req(cpu="1"),
    MEMBER.named("m2").req(cpu="2"),
    MEMBER.named("m3").req(cpu="2"),
]
"""By the rules of 1.37 the gang is nominated, and no pod leaves: on an empty cluster it stands elsewhere."""


def test_members_of_a_group_do_not_hold_nodes_against_each_other():
    run = Run(*MOVED, release="1.37")
    assert run.placed == {"m1": "a", "m2": "b", "m3": "a"}
    assert run.victims == {}


def test_nominations_that_are_lost_in_every_pass_end_the_run(monkeypatch):
    monkeypatch.setattr("kubestow.framework.runs.greedy._Run._enough", lambda *_: False)
    run = Run(*MOVED, release="1.37")
    assert (run.placed, run.outcome.steps) == ({}, [])
