"""The check of moves: every way in which an order can be wrong is told, and right ones pass."""

import pytest
from support.builders import budget, group, node, pod
from support.devices import claim, device_class, gpu, slice_on, template, user
from support.moving import moving_of, steps

from kubestow.models.moves import MoveStep
from kubestow.solver.moves.replay import replay
from kubestow.solver.plans.replay import ReplayFailure

V = pod("v").label(app="web").owned().req(cpu="2").on("a")
W = V.named("w").on("b")
DB = pod("x").label(app="db").owned().on("a")
ROUND = (
    node("a"),
    node("b"),
    node("c", cpu="2"),
    V,
    W,
    pod("alone").req(cpu="1").on("a"),
    budget("web", allowed=1, app="web"),
)

GOOD = {
    "nothing moves": "",
    "one pod moves": "mark v, leave v, bind v' b",
    "one after the other": "mark v, leave v, bind v' b, mark w, leave w, bind w' a",
    "a replacement moves on": "mark v, leave v, bind v' b, mark v', leave v', bind v' c",
    "a node that opens again takes pods": "cordon b, uncordon b, mark v, leave v, bind v' b",
}

BAD = {
    "a pod is lost": ("mark v, leave v", "default/v leaves and is never bound again"),
    "a mark without an end": ("mark v", "default/v is marked and never leaves"),
    "gone unmarked": ("leave v", "step 0 takes default/v away before it is marked"),
    "marked twice": ("mark v, mark v", "step 1 marks default/v, which terminates already"),
    "gone already": ("mark v, leave v, mark v", "step 2 marks default/v, which does not run"),
    "bound before it left": ("mark v, bind v' b", "step 1 binds default/v-moved to b, which replaces no pod"),
    "bound twice": ("mark v, leave v, bind v' b, bind v' c", "step 3 binds default/v-moved to c, which repl"),
    "back where it was": ("mark v, leave v, bind v' a", "step 2 binds default/v-moved to a, which default/v"),
    "no room": (
        "mark v, leave v, bind v' c, mark w, leave w, bind w' c",
        "step 5 binds default/w-moved to c: NodeResourcesFit: Insufficient cpu",
    ),
    "more than the budget": (
        "mark v, leave v, mark w, leave w, bind v' b, bind w' a",
        "step 2 marks default/w while budget default/web, which allows 1, has none left",
    ),
    "a mark takes of the budget": ("mark v, mark w", "step 1 marks default/w while budget"),
    "a pod that may not move": ("mark alone", "step 0 marks default/alone, which may not move: it has no"),
    "a closed node": (
        "cordon b, mark v, leave v, bind v' b",
        "step 3 binds default/v-moved to b, which takes",
    ),
    "opened while open": ("uncordon b", "step 0 uncordons b, which is open"),
    "unknown pod": ("mark z", "step 0 names an unknown pod or node"),
    "unknown node": ("mark v, leave v, bind v' z", "step 2 names an unknown pod or node"),
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_what_holds(text):
    replay(moving_of(*ROUND), steps(text))


@pytest.mark.parametrize("text, fault", BAD.values(), ids=BAD)
def test_what_does_not(text, fault):
    with pytest.raises(ReplayFailure) as caught:
        replay(moving_of(*ROUND), steps(text))
    assert f"the moves fail their replay: {fault}" in str(caught.value)


@pytest.mark.parametrize(
    "step",
    [
        MoveStep(),
        MoveStep(mark="default/v", leave="default/v"),
        MoveStep(bind="default/v-moved"),
        MoveStep(mark="default/v", node="b"),
    ],
)
def test_a_step_says_one_thing(step):
    with pytest.raises(ReplayFailure, match="step 0 does not say one thing"):
        replay(moving_of(*ROUND), [step])


def test_the_end_is_where_the_pods_are():
    moving = moving_of(*ROUND)
    end = replay(moving, steps("mark v, leave v, bind v' b"))
    index = moving.cluster.pod_index
    assert end.node_of[index["default/v"]] == -1
    assert end.node_of[index["default/v-moved"]] == moving.cluster.node_index["b"]


def test_who_terminates_may_leave_without_a_mark_and_is_not_replaced():
    full = (node("a"), node("b"), V.req(cpu="3"), pod("t").req(cpu="3").on("b").terminating())
    replay(moving_of(*full), steps("leave t, mark v, leave v, bind v' b"))
    with pytest.raises(ReplayFailure, match="Insufficient cpu"):
        replay(moving_of(*full), steps("mark v, leave v, bind v' b"))
    with pytest.raises(ReplayFailure, match="step 1 takes default/t away before it is marked"):
        replay(moving_of(*full), steps("leave t, leave t"))


def test_a_node_may_be_closed_from_the_start():
    with pytest.raises(ReplayFailure, match="to b, which takes no pods now"):
        replay(moving_of(*ROUND), steps("mark v, leave v, bind v' b"), closed=["b"])


def test_an_unhealthy_pod_may_leave_without_charge():
    def checked(**spec):
        web = budget("web", allowed=0, app="web").build()
        web = web.model_copy(update={"spec": web.spec.model_copy(update=spec)})
        broken = V.condition("Ready", "False")
        return replay(moving_of(node("a"), node("b"), broken, web), steps("mark v, leave v, bind v' b"))

    with pytest.raises(ReplayFailure, match="has none left"):
        checked()
    checked(unhealthy_pod_eviction_policy="AlwaysAllow")


def test_a_member_stays_in_the_rack_of_its_group():
    racks = (node("a").label(rack="1"), node("b").label(rack="1"), node("c").label(rack="2"))
    members = (V.member("g"), W.member("g"))
    moving = moving_of(*racks, group("g", "rack", gang=2), *members)
    replay(moving, steps("mark v, leave v, bind v' b"))
    with pytest.raises(ReplayFailure, match="to c, where its pod group does not take it"):
        replay(moving, steps("mark v, leave v, bind v' c"))


def test_devices_move_along():
    mine = claim("p-gpu", owner="p", has=[("r", "a", "g")], at="a", users=["p"])
    moving = moving_of(
        *(node("a"), node("b"), node("c"), device_class(), template("t"), mine),
        *(slice_on("a", gpu("g")), slice_on("b", gpu("g"))),
        user("p", made=[("e", "p-gpu")]).owned().on("a"),
    )
    end = replay(moving, steps("mark p, leave p, bind p' b"))
    assert set(end.claims.allocations) == {"default/p-moved-e"}
    with pytest.raises(ReplayFailure, match="to c: DynamicResources"):
        replay(moving, steps("mark p, leave p, bind p' c"))
