"""Host ports, for the filter NodePorts and for the model."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, both_engines

two = ("p", "q")

CASES = [
    Case("no host port", cluster(node("a"), pod("v").host_port(80).on("a"), pod("p")), {"a"}),
    Case("a free port", cluster(node("a"), pod("v").host_port(80).on("a"), pod("p").host_port(81)), {"a"}),
    Case(
        "a port that is taken, and a node where it is not",
        cluster(node("a"), node("b"), pod("v").host_port(80).on("a"), pod("p").host_port(80)),
        {"b"},
    ),
    Case(
        "another protocol",
        cluster(node("a"), pod("v").host_port(80).on("a"), pod("p").host_port(80, protocol="UDP")),
        {"a"},
    ),
    Case(
        "another address",
        cluster(
            node("a"), pod("v").host_port(80, ip="10.0.0.1").on("a"), pod("p").host_port(80, ip="10.0.0.2")
        ),
        {"a"},
    ),
    Case(
        "one address against all of them",
        cluster(node("a"), pod("v").host_port(80, ip="10.0.0.1").on("a"), pod("p").host_port(80)),
        set(),
    ),
    Case(
        "a terminating pod holds its port",
        cluster(node("a"), pod("v").host_port(80).on("a").terminating(), pod("p").host_port(80)),
        set(),
    ),
    Case(
        "two newcomers of one class",
        cluster(node("a"), node("b"), pod("p").host_port(80), pod("q").host_port(80)),
        {"ab", "ba"},
        two,
    ),
    Case(
        "two newcomers with different requests",
        cluster(
            node("a"), node("b"), pod("p").host_port(80), pod("q").host_port(80).host_port(81).req(cpu="1")
        ),
        {"ab", "ba"},
        two,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed
