"""What a node attaches, for the filter NodeVolumeLimits and for its rows in the model."""

import pytest
from support.builders import cluster, node, pod
from support.engines import Case, admits, both_engines
from support.storage import MAKE, attachment, bound, claim, csi_driver, csi_node

from kubestow.framework.build import build_cluster

two, three = ("p", "q"), ("p", "q", "r")
A, B = node("a"), node("b")
X, Y, Z = (bound(name) for name in "xyz")

CASES = [
    Case("no limit", cluster(A, X, pod("p").claim("x")), {"a"}),
    Case(
        "a driver that must be installed",
        cluster(A, B, csi_driver(required=True), csi_node("b", volumes=None), X, pod("p").claim("x")),
        {"b"},
    ),
    Case("a limit of none", cluster(A, B, csi_node("a", volumes=0), X, pod("p").claim("x")), {"b"}),
    Case(
        "two of one class with volumes of their own",
        cluster(A, B, csi_node("a", volumes=1), X, Y, pod("p").claim("x"), pod("q").claim("y")),
        {"ab", "ba", "bb"},
        two,
    ),
    Case(
        "a volume that a pod brought whose profile has no limits is there for the next",
        cluster(
            A,
            csi_node("a", volumes=0),
            X,
            pod("p").claim("x").scheduler("unlimited"),
            pod("q").claim("x"),
            configuration={
                "profiles": [
                    {"schedulerName": "default-scheduler"},
                    {
                        "schedulerName": "unlimited",
                        "plugins": {"multiPoint": {"disabled": [{"name": "NodeVolumeLimits"}]}},
                    },
                ]
            },
        ),
        {"aa"},
        two,
    ),
    Case(
        "two volumes each",
        cluster(
            A,
            B,
            csi_node("a", volumes=3),
            [bound(f"x{k}") for k in range(4)],
            pod("p").claim("x0", "x1"),
            pod("q").claim("x2", "x3"),
        ),
        {"ab", "ba", "bb"},
        two,
    ),
    Case(
        "a volume that both use counts once",
        cluster(A, csi_node("a", volumes=1), X, pod("p").claim("x"), pod("q").claim("x").req(cpu="1")),
        {"aa"},
        two,
    ),
    Case(
        "a shared volume and one's own",
        cluster(
            A,
            B,
            csi_node("a", volumes=2),
            csi_node("b", volumes=1),
            X,
            Y,
            Z,
            pod("p").claim("x", "y"),
            pod("q").claim("x", "z"),
        ),
        set(),
        two,
    ),
    Case(
        "a shared volume with one's own, room for both",
        cluster(A, csi_node("a", volumes=3), X, Y, Z, pod("p").claim("x", "y"), pod("q").claim("x", "z")),
        {"aa"},
        two,
    ),
    Case(
        "a volume of a running pod is there",
        cluster(A, csi_node("a", volumes=1), X, pod("v").claim("x").on("a"), pod("p").claim("x")),
        {"a"},
    ),
    Case(
        "beyond the limit nothing new may come",
        cluster(
            A,
            B,
            csi_node("a", volumes=0),
            X,
            Y,
            pod("v").claim("x").on("a"),
            pod("p").claim("y"),
            pod("q").claim("x"),
        ),
        {"ba", "bb"},
        two,
    ),
    Case(
        "beyond the limit a pod without volumes may come",
        cluster(A, csi_node("a", volumes=0), X, pod("v").claim("x").on("a"), pod("p")),
        {"a"},
    ),
    Case(
        "unbound claims count for their class's driver",
        cluster(
            A,
            B,
            MAKE,
            csi_node("a", volumes=1),
            claim("x", storage="make"),
            claim("y", storage="make"),
            pod("p").claim("x"),
            pod("q").claim("y"),
        ),
        {"ab", "ba", "bb"},
        two,
    ),
    Case(
        "an attachment takes room",
        cluster(A, B, csi_node("a", volumes=1), X, Y, attachment("a", "y"), pod("p").claim("x")),
        {"b"},
    ),
    Case(
        "drivers have limits of their own",
        cluster(
            A,
            csi_node("a", volumes=1, other=0),
            X,
            pod("p").claim("x"),
            pod("q").volume(csi={"driver": "other"}),
        ),
        {"aa"},
        two,
    ),
    Case(
        "three of one class on a node for two",
        cluster(
            A,
            B,
            csi_node("a", volumes=2),
            csi_node("b", volumes=1),
            X,
            Y,
            Z,
            pod("p").claim("x"),
            pod("q").claim("y"),
            pod("r").claim("z"),
        ),
        {"aab", "aba", "baa"},
        three,
    ),
]


@both_engines
@pytest.mark.parametrize("case", CASES, ids=Case.title)
def test_allowed_nodes(engine, case):
    """Filter and encoder agree on where the pods may stand."""
    assert engine(case) == case.allowed


@pytest.mark.parametrize(
    "running, left, fits",
    [
        pytest.param([pod("v").claim("y")], "", False, id="a volume stays with its pod"),
        pytest.param([pod("v").claim("y")], "v", True, id="and goes with it"),
        pytest.param([pod("v").claim("y"), pod("w").claim("y")], "v", False, id="unless another uses it"),
        pytest.param([pod("v").claim("y"), pod("w").claim("y")], "vw", True, id="all who use it must go"),
        pytest.param(
            [pod("v").claim("y"), pod("w").claim("z")], "v", False, id="beyond the limit one is not enough"
        ),
        pytest.param([pod("v").claim("y"), pod("w").claim("z")], "vw", True, id="all must go"),
        pytest.param([pod("v").claim("x")], "", True, id="what a victim has, a newcomer may have"),
        pytest.param([pod("v").claim("x", "y")], "", True, id="on a node beyond its limit, too"),
    ],
)
def test_victims(running, left, fits):
    running = [item.priority(0).on("a") for item in running]
    made = build_cluster(
        cluster(A, csi_node("a", volumes=1), X, Y, Z, running, pod("p").claim("x").priority(10))
    )
    index = {info.pod.name: info.index for info in made.pods}
    assert admits(made, {index["p"]: 0}, [index[v] for v in left]) == fits
