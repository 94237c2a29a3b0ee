"""What is told before the price of a placement is known, and of a price that time did not prove."""

from dataclasses import replace

import pytest
from support.builders import cluster, node, pod
from support.why_rounds import OPTIONS

from kubestow.models.eviction_limits import EvictionLimits, PodSelector
from kubestow.models.plan import Tier
from kubestow.solver.check.documents import check_document
from kubestow.solver.why.price import difference
from kubestow.solver.why.question import why

P = pod("p").req(cpu="2").priority(10)
TAKEN = [node("n", cpu="2"), pod("v").req(cpu="2").on("n"), P, P.named("q")]


def test_the_verdict_is_told_before_the_price():
    heard = []
    document = why(cluster(*TAKEN), "q", OPTIONS, told=heard.append)
    [first] = heard
    assert (first["answer"], first["placed"], first["evicted"]) == (
        "placeable",
        {"default/q": "n"},
        ["default/v"],
    )
    assert document["answer"] in ("placed", "atACost")


def test_a_headline_is_the_verdict_alone():
    document = why(cluster(*TAKEN), "q", OPTIONS, headline=True)
    assert document["answer"] == "placeable"
    assert [item for item in check_document(cluster(*TAKEN), document) if item.holds is False] == []


def test_without_time_the_verdict_is_the_answer():
    document = why(cluster(*TAKEN), "q", replace(OPTIONS, time_limit=1e-6))
    assert document["answer"] == "placeable"


@pytest.mark.parametrize(
    "limits, field",
    [
        pytest.param(EvictionLimits(evictions=0), "--max-evictions", id="no evictions"),
        pytest.param(
            EvictionLimits(never=(PodSelector.parse("default:"),)),
            "--never-evict",
            id="a namespace is spared",
        ),
    ],
)
def test_a_limit_is_a_rule_that_keeps_a_pod(limits, field):
    document = why(cluster(*TAKEN), "q", replace(OPTIONS, limits=limits))
    assert [row["field"] for row in document["core"] if row["kind"] == "limit"] == [field]
    assert [item for item in check_document(cluster(*TAKEN), document) if item.holds is False] == []


def tier(value, bound, sense="max"):
    return Tier(name="t", sense=sense, value=value, bound=bound, proven=bound == value)


@pytest.mark.parametrize(
    "above, pair, proven, certain",
    [
        pytest.param((5, 5), (tier(3, 3), tier(2, 2)), True, True, id="both are proven"),
        pytest.param(
            (5, 5), (tier(3, 4), tier(1, 2)), False, True, id="a bound behind the best plan's value"
        ),
        pytest.param((5, 5), (tier(3, 3), tier(1, 3)), False, False, id="a bound that reaches it"),
        pytest.param((5, 6), (tier(3, 3), tier(2, 2)), False, False, id="a tier above that is not proven"),
        pytest.param(
            (5, 5),
            (tier(1, 1, sense="min"), tier(3, 2, sense="min")),
            False,
            True,
            id="evictions that are bounded from below",
        ),
    ],
)
def test_what_is_certain_of_a_price(above, pair, proven, certain):
    found = difference([(tier(*above), tier(*above)), pair], 1)
    assert (found["proven"], found["certain"]) == (proven, certain)
