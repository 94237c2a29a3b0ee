"""Room on a node, for the filter NodeResourcesFit and for the capacity rows of the model."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, both_engines

two = ("p", "q")

CASES = [
    Case("a pod that requests nothing needs a slot only", cluster(node("a", cpu="0"), pod("p")), {"a"}),
    Case("room to the last milli-CPU", cluster(node("a", cpu="1500m"), pod("p").req(cpu="1500m")), {"a"}),
    Case("a milli-CPU too much", cluster(node("a", cpu="1499m"), pod("p").req(cpu="1500m")), set()),
    Case(
        "what runs counts",
        cluster(node("a", cpu="2"), node("b", cpu="2"), pod("v").req(cpu="1").on("a"), pod("p").req(cpu="2")),
        {"b"},
    ),
    Case("no slot left", cluster(node("a", pods="1"), node("b"), pod("v").on("a"), pod("p")), {"b"}),
    Case("a node that states no slots has none", cluster(node("a", pods="0"), pod("p")), set()),
    Case(
        "an over-committed node refuses who asks for more of it",
        cluster(node("a", cpu="1"), node("b"), pod("v").req(cpu="2").on("a"), pod("p").req(cpu="1m")),
        {"b"},
    ),
    Case(
        "an over-committed node takes who does not ask for what is short",
        cluster(node("a", cpu="1"), pod("v").req(cpu="2").on("a"), pod("p").req(memory="1Gi")),
        {"a"},
    ),
    Case(
        "an extended resource that a node lacks",
        cluster(node("a"), node("b").offer({"example.com/gpu": "1"}), pod("p").req({"example.com/gpu": "1"})),
        {"b"},
    ),
    Case(
        "two that fit alone and not together",
        cluster(node("a", cpu="3"), node("b", cpu="2"), pod("p").req(cpu="2"), pod("q").req(cpu="2")),
        {"ab", "ba"},
        two,
    ),
    Case(
        "bytes past 2**31 with no common divisor",
        cluster(
            node("a", memory="4294967297"),
            node("b", memory="4294967296"),
            pod("p").req(memory="2147483648"),
            pod("q").req(memory="2147483649"),
        ),
        {"aa", "ab", "ba"},
        two,
    ),
    Case(
        "exbibytes",
        cluster(
            node("a", memory="6Ei"),
            node("b", memory="6917529027641081855"),
            pod("p").req(memory="3Ei"),
            pod("q").req(memory="3Ei"),
        ),
        # b lacks one byte of 6Ei
        {"aa", "ab", "ba"},
        two,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed
