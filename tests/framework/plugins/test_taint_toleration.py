import pytest
from support.builders import node, pod
from support.filtering import Look

GPU = node("a").taint("dedicated", "gpu")


def kept_out(text):
    return {"a": f"UAU TaintToleration: node(s) had untolerated taint {{{text}}}"}


@pytest.mark.parametrize(
    "tainted, p, rejected",
    [
        pytest.param(GPU, pod("p"), kept_out("dedicated: gpu"), id="a taint keeps pods away"),
        pytest.param(node("a").taint("x"), pod("p"), kept_out("x: "), id="an empty value leaves the blank"),
        pytest.param(GPU, pod("p").tolerate("dedicated", "gpu"), {}, id="an equal value tolerates"),
        pytest.param(
            GPU,
            pod("p").tolerate("dedicated", "cpu"),
            kept_out("dedicated: gpu"),
            id="another value does not",
        ),
        pytest.param(GPU, pod("p").tolerate("dedicated"), {}, id="Exists tolerates any value"),
        pytest.param(GPU, pod("p").tolerate(), {}, id="Exists without a key tolerates everything"),
        pytest.param(
            GPU,
            pod("p").tolerate("dedicated", effect="NoExecute"),
            kept_out("dedicated: gpu"),
            id="the effect must be the taint's",
        ),
        pytest.param(
            node("a").taint("out", effect="NoExecute"),
            pod("p"),
            kept_out("out: "),
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
            kept_out("one: "),
            id="the first taint that counts is named",
        ),
        pytest.param(
            node("a").taint("one").taint("two"),
            pod("p").tolerate("one"),
            kept_out("two: "),
            id="tolerated taints are passed over",
        ),
        pytest.param(
            GPU,
            pod("p").changed(
                lambda d: d["spec"].update(tolerations=[{"key": "dedicated", "operator": "Lt", "value": "9"}])
            ),
            kept_out("dedicated: gpu"),
            id="an operator of a later release matches nothing",
        ),
    ],
)
def test_filter(tainted, p, rejected):
    assert Look(tainted, node("b"), p).rejected == rejected


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
