import pytest
from support.builders import node, pod
from support.filtering import Look

GPU = node("a").taint("dedicated", "gpu")


KEPT_OUT = {"a": "UAU TaintToleration: node(s) had untolerated taint(s)"}


@pytest.mark.parametrize(
    "tainted, p, rejected",
    [
        pytest.param(GPU, pod("p"), KEPT_OUT, id="a taint keeps pods away"),
        pytest.param(node("a").taint("x"), pod("p"), KEPT_OUT, id="an empty value leaves the blank"),
        pytest.param(GPU, pod("p").tolerate("dedicated", "gpu"), {}, id="an equal value tolerates"),
        pytest.param(
            GPU,
            pod("p").tolerate("dedicated", "cpu"),
            KEPT_OUT,
            id="another value does not",
        ),
        pytest.param(GPU, pod("p").tolerate("dedicated"), {}, id="Exists tolerates any value"),
        pytest.param(GPU, pod("p").tolerate(), {}, id="Exists without a key tolerates everything"),
        pytest.param(
            GPU,
            pod("p").tolerate("dedicated", effect="NoExecute"),
            KEPT_OUT,
            id="the effect must be the taint's",
        ),
        pytest.param(
            node("a").taint("out", effect="NoExecute"),
            pod("p"),
            KEPT_OUT,
            id="NoExecute keeps pods away",
        ),
        pytest.param(
            node("a").taint("soft", effect="PreferNoSchedule"),
            pod("p"),
            {},
            id="PreferNoSchedule only scores",
        ),
        pytest.param(
            node("a").taint("soft", effect="PreferNoSchedule").taint("one").taint("two"),
            pod("p"),
            KEPT_OUT,
            id="the first taint that counts is named",
        ),
        pytest.param(
            node("a").taint("one").taint("two"),
            pod("p").tolerate("one"),
            KEPT_OUT,
            id="tolerated taints are passed over",
        ),
        pytest.param(
            GPU,
            pod("p").tolerate("dedicated", "9", operator="Lt"),
            KEPT_OUT,
            id="a value that is no number is not compared",
        ),
    ],
)
def test_filter(tainted, p, rejected):
    assert Look(tainted, node("b"), p).rejected == rejected


AGED = node("a").taint("age", "7")


@pytest.mark.parametrize(
    "operator, value, tolerated",
    [
        pytest.param("Lt", "8", True, id="Lt tolerates a smaller value"),
        pytest.param("Lt", "7", False, id="but not its own"),
        pytest.param("Lt", "6", False, id="nor a larger one"),
        pytest.param("Gt", "6", True, id="Gt tolerates a larger value"),
        pytest.param("Gt", "7", False, id="but not its own either"),
        pytest.param("Gt", "-9223372036854775808", True, id="down to the smallest number"),
    ],
)
def test_comparing_tolerations(operator, value, tolerated):
    p = pod("p").tolerate("age", value, operator=operator)
    assert Look(AGED, p).rejected == ({} if tolerated else KEPT_OUT)
    assert Look(AGED, p, gates="TaintTolerationComparisonOperators=false").rejected == KEPT_OUT
    text = "UAU TaintToleration: node(s) had untolerated taint {age: 7}"
    assert Look(AGED, p, release="1.34").rejected == {"a": text}


def test_comparing_tolerations_of_soft_taints_count():
    soft = node("a").taint("age", "7", effect="PreferNoSchedule")
    p = pod("p").tolerate("age", "8", operator="Lt")
    assert Look(soft, node("b"), p).scores("TaintToleration") == {"a": 300, "b": 300}
    off = Look(soft, node("b"), p, gates="TaintTolerationComparisonOperators=false")
    assert off.scores("TaintToleration") == {"a": 0, "b": 300}


@pytest.mark.parametrize(
    "taints, text",
    [
        pytest.param([("dedicated", "gpu")], "dedicated: gpu", id="by key and value"),
        pytest.param([("x", "")], "x: ", id="an empty value leaves the blank"),
        pytest.param([("soft", ""), ("one", ""), ("two", "")], "one: ", id="the first one that counts"),
        pytest.param([("kept", ""), ("two", "")], "two: ", id="tolerated ones are passed over"),
    ],
)
def test_1_34_names_the_taint(taints, text):
    tainted = node("a")
    for key, value in taints:
        tainted = tainted.taint(key, value, effect="PreferNoSchedule" if key == "soft" else "NoSchedule")
    look = Look(tainted, pod("p").tolerate("kept"), release="1.34")
    assert look.rejected == {"a": f"UAU TaintToleration: node(s) had untolerated taint {{{text}}}"}


SOFT = {"effect": "PreferNoSchedule"}


@pytest.mark.parametrize(
    "nodes, p, scores",
    [
        pytest.param([node("a"), node("b")], pod("p"), [300, 300], id="nodes without taints get all points"),
        pytest.param(
            [node("a").taint("x", **SOFT), node("b").taint("x", **SOFT).taint("y", **SOFT), node("c")],
            pod("p"),
            [150, 0, 300],
            id="each untolerated taint costs its share of the most",
        ),
        pytest.param(
            [node("a").taint("x", **SOFT), node("b")],
            pod("p").tolerate("x"),
            [300, 300],
            id="a tolerated taint costs nothing",
        ),
        pytest.param(
            [node("a").taint("x", **SOFT), node("b")],
            pod("p").tolerate("x", effect="NoSchedule"),
            [0, 300],
            id="a toleration of another effect does not help",
        ),
    ],
)
def test_score(nodes, p, scores):
    assert list(Look(*nodes, p).scores("TaintToleration").values()) == scores
