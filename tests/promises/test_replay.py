"""The replay refuses what is not so: each row tampers with one thing and names the words of the refusal."""

import pytest
from support.builders import budget, cluster, node
from support.proof import OPTIONS
from support.rows import high, low
from support.strategies import small
from support.tampering import Tampering, lists, steps, tier

from kubestow.framework.build import build_cluster
from kubestow.models.plan import Binding, Eviction, Fallback, Nomination, Step
from kubestow.solver.api import solve, solve_greedy
from kubestow.solver.plans.replay import ReplayFailure, replay

# v runs on a; p takes its place, r fits on b, q fits nowhere, g waits for its gate
ROUND = cluster(
    node("a", cpu="1"),
    node("b", cpu="1"),
    low.named("v").on("a"),
    high.named("p").nodes("hostname", "In", "a"),
    low.named("r").nodes("hostname", "In", "b"),
    low.named("q").req(cpu="4"),
    high.named("g").gated(),
)

MARK, LEAVE = Step(mark="default/v"), Step(leave="default/v")
BIND_P, BIND_R = Step(bind="default/p", node="a"), Step(bind="default/r", node="b")
STEPS = (MARK, LEAVE, BIND_P, BIND_R)


TAMPERINGS = [
    Tampering(
        "a pod that is not there",
        steps(*STEPS, Step(bind="default/x", node="a")),
        "step 4 names an unknown pod or node",
    ),
    Tampering(
        "a node that is not there",
        steps(Step(bind="default/p", node="x")),
        "step 0 names an unknown pod or node",
    ),
    Tampering("a pod bound twice", steps(*STEPS, BIND_R), "step 4 binds default/r, which does not wait"),
    Tampering(
        "a gated pod bound",
        steps(Step(bind="default/g", node="b")),
        "step 0 binds default/g, which does not wait",
    ),
    Tampering(
        "a running pod bound",
        steps(Step(bind="default/v", node="b")),
        "step 0 binds default/v, which does not wait",
    ),
    Tampering(
        "bound while the victim holds its room",
        steps(MARK, BIND_P, LEAVE, BIND_R),
        "step 1 binds default/p to a: NodeResourcesFit: Insufficient cpu",
    ),
    Tampering(
        "bound where a static filter refuses",
        steps(Step(bind="default/p", node="b")),
        "step 0 binds default/p to b: NodeAffinity: node(s) didn't match Pod's node affinity/selector",
    ),
    Tampering(
        "gone before it was marked", steps(LEAVE, BIND_P), "step 0 takes default/v away before it is marked"
    ),
    Tampering("marked twice", steps(MARK, MARK), "step 1 marks default/v, which terminates already"),
    Tampering("gone twice", steps(MARK, LEAVE, LEAVE), "step 2 moves default/v, which does not run"),
    Tampering(
        "who waits is marked", steps(Step(mark="default/q")), "step 0 moves default/q, which does not run"
    ),
    Tampering("marked for nothing", steps(MARK, BIND_R), "default/v is marked and never leaves"),
    Tampering(
        "a wasted eviction", steps(MARK, LEAVE, BIND_R), "default/v leaves and no preemptor comes to its node"
    ),
    Tampering(
        "a newcomer evicted",
        steps(*STEPS, Step(mark="default/r"), Step(leave="default/r")),
        "default/r is bound and evicted in the same round",
    ),
    Tampering(
        "a binding is not listed", lists(bindings=lambda _: ()), "bindings and nominations are not what"
    ),
    Tampering(
        "a binding of nobody's steps",
        lists(bindings=lambda plan: (*plan.bindings, Binding(pod="default/q", node="b"))),
        "bindings and nominations are not what",
    ),
    Tampering(
        "a nomination to another node",
        lists(nominations=lambda _: (Nomination(pod="default/p", node="b", victims=("default/v",)),)),
        "bindings and nominations are not what",
    ),
    Tampering("an eviction is not listed", lists(evictions=lambda _: ()), "evictions are not who leaves"),
    Tampering(
        "an eviction listed twice",
        lists(evictions=lambda plan: plan.evictions * 2),
        "evictions are not who leaves",
    ),
    Tampering(
        "who was left out is not listed", lists(unschedulable=lambda _: ()), "unschedulable is not who"
    ),
    Tampering("a tier is better than it is", tier(0, value=2), "are not the valuation"),
    Tampering("a tier of another name", tier(0, name="scheduled[priority=7]"), "are not the valuation"),
    Tampering("a tier of the other sense", tier(1, sense="max"), "are not the valuation"),
    Tampering("a tier is missing", lists(tiers=lambda plan: plan.tiers[1:]), "are not the valuation"),
    Tampering("a bound that the plan beats", tier(0, bound=0), "has value 1 beyond its bound 0"),
    Tampering("a step that says nothing", steps(*STEPS, Step()), "step 4 does not say one thing"),
    Tampering(
        "a nomination listed as a binding",
        lists(
            bindings=lambda plan: (*plan.bindings, Binding(pod="default/p", node="a")),
            nominations=lambda _: (),
        ),
        "nominations are not those that the steps make",
    ),
    Tampering(
        "a binding listed twice",
        lists(bindings=lambda plan: plan.bindings * 2),
        "bindings and nominations are",
    ),
    Tampering(
        "a nomination without its victim",
        lists(nominations=lambda _: (Nomination(pod="default/p", node="a"),)),
        "nominations are not those that the steps make",
    ),
    Tampering(
        "an eviction for somebody else",
        lists(evictions=lambda _: (Eviction(pod="default/v", node="a", preemptor="default/r"),)),
        "evictions name another node or preemptor",
    ),
    Tampering(
        "an eviction on another node",
        lists(evictions=lambda _: (Eviction(pod="default/v", node="b", preemptor="default/p"),)),
        "evictions name another node or preemptor",
    ),
    Tampering(
        "a budget broken on paper only",
        lists(
            evictions=lambda plan: tuple(
                e.model_copy(update={"violates": ("default/none",)}) for e in plan.evictions
            )
        ),
        "violates does not name the budgets",
    ),
    Tampering(
        "a fallback that nobody took",
        lists(
            fallbacks=lambda _: (
                Fallback(pod="default/p", topology_key="zone", criteria=(), applied=True, skew=2, max_skew=1),
            )
        ),
        "fallbacks are not those of the steps",
    ),
    Tampering("a proof denied", tier(0, proven=False), "is called proven, or not, against"),
    Tampering(
        "a status that does not follow", lists(status=lambda _: "FEASIBLE"), "status FEASIBLE does not follow"
    ),
]


@pytest.fixture(scope="module")
def plan():
    """The plan of the round, in one order of steps that is known, without the objects of another."""
    return steps(*STEPS)(solve(ROUND, OPTIONS)).model_copy(update={"objects": None})


def test_the_plan_itself_passes(plan):
    replay(build_cluster(ROUND), plan)


@pytest.mark.parametrize("row", TAMPERINGS, ids=Tampering.title)
def test_what_is_not_so_is_refused(plan, row):
    """A tampered plan fails, with exit code 1 and the words of its row."""
    with pytest.raises(ReplayFailure) as failure:
        replay(build_cluster(ROUND), row.change(plan))
    assert row.words in str(failure.value)
    assert failure.value.exit_code == 1


def test_a_guarded_victim_may_not_violate():
    """KEP-4664: without a preemptor of the guard's priority no set of violating victims is allowed."""
    snapshot = cluster(
        node("a", cpu="1"),
        low.named("v").label(app="web").guard(100).on("a"),
        high.named("p").priority(50),
        budget("app", app="web", allowed=0),
    )
    honest = solve(snapshot, OPTIONS)
    assert not honest.evictions
    forged = honest.model_copy(
        update={
            "steps": (MARK, LEAVE, BIND_P),
            "nominations": (Nomination(pod="default/p", node="a", victims=("default/v",)),),
            "evictions": (Eviction(pod="default/v", node="a", preemptor="default/p"),),
            "unschedulable": (),
            "objects": None,
        }
    )
    with pytest.raises(ReplayFailure, match="a guarded victim violates its budget"):
        replay(build_cluster(snapshot), forged)


def test_an_outcome_that_is_said_to_be_no_plan_may_waste_an_eviction():
    """Greedy's own log is held to its steps and lists alone: here the lists are not what the steps do."""
    outcome = steps(MARK, LEAVE, BIND_R)(solve(ROUND, OPTIONS))
    stats = outcome.stats.model_copy(update={"admissible": False})
    with pytest.raises(ReplayFailure, match="bindings and nominations are not what the steps bind"):
        replay(build_cluster(ROUND), outcome.model_copy(update={"stats": stats}))


@pytest.mark.parametrize("seed", range(40))
def test_no_step_can_be_left_out(seed):
    """A plan without any one of its steps is refused, whichever step it is."""
    snapshot = small(seed)
    whole = solve_greedy(snapshot)
    for number in range(len(whole.steps)):
        with pytest.raises(ReplayFailure):
            replay(build_cluster(snapshot), steps(*whole.steps[:number], *whole.steps[number + 1 :])(whole))
