import pytest
from support.builders import cluster, node, pod
from support.filtering import pass_over

from kubestow.framework.runs.trace import trace
from kubestow.framework.vocabulary.message import fit_error
from kubestow.framework.vocabulary.status import Code, Status


def mixed(short, tainted):
    nodes = [node(f"s{k}", cpu="1") for k in range(short)] + [
        node(f"t{k}").taint("x", "y") for k in range(tainted)
    ]
    return pass_over(*nodes, pod("p").req(cpu="2").never())["p"]["message"].partition(". ")[0]


@pytest.mark.parametrize(
    "short, tainted, body",
    [
        pytest.param(
            10,
            1,
            "1 node(s) had untolerated taint(s), 10 Insufficient cpu",
            id="a blank sorts before a digit",
        ),
        pytest.param(
            10,
            2,
            "10 Insufficient cpu, 2 node(s) had untolerated taint(s)",
            id="counts sort as text, not as numbers",
        ),
        pytest.param(
            2, 1, "1 node(s) had untolerated taint(s), 2 Insufficient cpu", id="by count, then by reason"
        ),
    ],
)
def test_reasons_are_counted_and_sorted(short, tainted, body):
    assert mixed(short, tainted) == f"0/{short + tainted} nodes are available: {body}"


def test_each_reason_of_a_node_is_counted():
    status = Status(Code.UNSCHEDULABLE, "NodeResourcesFit", ("Too many pods", "Insufficient cpu"))
    assert fit_error(2, [status] * 2) == "0/2 nodes are available: 2 Insufficient cpu, 2 Too many pods."


def test_without_nodes_there_is_nothing_to_say():
    cycle = pass_over(pod("p"))["p"]
    assert (cycle["message"], cycle["result"]) == ("no nodes available to schedule pods", "unschedulable")
    assert "error" not in cycle


def test_without_device_allocation_nothing_is_said_about_claims():
    cycle = pass_over(node("a", cpu="1"), pod("p").req(cpu="2"), gates="DynamicResourceAllocation=false")["p"]
    assert cycle["message"] == (
        "0/1 nodes are available: 1 Insufficient cpu. "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )


def test_one_pass_in_queue_order():
    document = trace(
        cluster(
            node("a"),
            pod("late").created(1),
            pod("early").created(9),
            pod("high").priority(5).created(1),
            pod("gated").gated(),
            pod("gone").terminating(),
            pod("elsewhere").scheduler("other"),
            pod("ghost").on("nowhere"),
        )
    )
    assert [cycle["pod"] for cycle in document["cycles"]] == ["default/high", "default/early", "default/late"]


def test_equal_totals_go_to_the_smallest_name():
    cycle = pass_over(node("n7"), node("n12"), pod("p"))["p"]
    assert cycle["totals"]["n7"] == cycle["totals"]["n12"]
    assert cycle["node"] == "n12"
