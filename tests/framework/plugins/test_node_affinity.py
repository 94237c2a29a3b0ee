import pytest
from support.builders import cluster, node, pod
from support.filtering import Look, pass_over, profile

from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.index.cluster import Cluster

NO_MATCH = "UAU NodeAffinity: node(s) didn't match Pod's node affinity/selector"
ADDED = "UAU NodeAffinity: node(s) didn't match scheduler-enforced node affinity"
OUTSIDE = "UAU NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity]"
CONFLICT = "UAU NodeAffinity: pod affinity terms conflict"

NODES = [node("a").label(disk="ssd", gen="3"), node("b").label(disk="hdd", gen="10"), node("c")]


def required(*terms):
    selector = {"nodeSelectorTerms": list(terms)}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}
    return pod("p").changed(lambda d: d["spec"].update(affinity=affinity))


def preferred(*terms):
    wishes = [{"weight": weight, "preference": term} for weight, term in terms]
    affinity = {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": wishes}}
    return pod("p").changed(lambda d: d["spec"].update(affinity=affinity))


def label(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def named(*names, operator="In"):
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(names)}]}


@pytest.mark.parametrize(
    "p, fits",
    [
        pytest.param(pod("p"), "abc", id="a pod that asks for nothing may go anywhere"),
        pytest.param(pod("p").select(disk="ssd"), "a", id="the node selector names a value"),
        pytest.param(pod("p").select(disk="ssd", gen="4"), "", id="all pairs of the node selector must hold"),
        pytest.param(required(label("disk", "In", "ssd", "nvme")), "a", id="In takes any of its values"),
        pytest.param(
            required(label("disk", "NotIn", "ssd")), "bc", id="NotIn takes a node without the label"
        ),
        pytest.param(required(label("disk", "Exists")), "ab", id="Exists asks for the label"),
        pytest.param(required(label("disk", "DoesNotExist")), "c", id="DoesNotExist asks for its absence"),
        pytest.param(
            required(label("gen", "Gt", "3")), "b", id="Gt compares numbers, and misses without a label"
        ),
        pytest.param(required(label("gen", "Lt", "10")), "a", id="Lt compares numbers, not text"),
        pytest.param(required(label("disk", "Gt", "3")), "", id="a label that is no number is never greater"),
        pytest.param(
            required(label("gen", "Gt", "-1")),
            "",
            id="a negative number cannot be parsed and matches nothing",
        ),
        pytest.param(
            required(label("disk", "In", "ssd"), label("gen", "Exists")), "ab", id="any of the terms may hold"
        ),
        pytest.param(
            required(
                {
                    "matchExpressions": label("disk", "Exists")["matchExpressions"] * 1
                    + label("gen", "In", "10")["matchExpressions"]
                }
            ),
            "b",
            id="all conditions of a term must hold",
        ),
        pytest.param(required({}), "", id="a term without conditions matches nothing"),
        pytest.param(required(), "", id="an empty list of terms matches nothing"),
        pytest.param(required(named("a", operator="NotIn")), "bc", id="a field may be excluded"),
        pytest.param(
            required(label("disk", "Exists")).select(disk="hdd"),
            "b",
            id="node selector and affinity both hold",
        ),
    ],
)
def test_filter(p, fits):
    rejected = Look(*NODES, p).rejected
    assert rejected == {name: NO_MATCH for name in "abc" if name not in fits}


@pytest.mark.parametrize(
    "p, rejected",
    [
        pytest.param(
            required(named("b")),
            {"a": OUTSIDE, "c": OUTSIDE},
            id="only nodes named in every term are looked at",
        ),
        pytest.param(
            required(named("b"), named("c")),
            {"a": OUTSIDE},
            id="the names of all terms together are looked at",
        ),
        pytest.param(
            required({**named("a"), **label("disk", "In", "hdd")}),
            {"a": NO_MATCH, "b": OUTSIDE, "c": OUTSIDE},
            id="a named node must still match the rest of the term",
        ),
        pytest.param(
            required(named("b"), label("disk", "Exists")),
            {"c": NO_MATCH},
            id="one term without a name opens all nodes",
        ),
        pytest.param(
            required({"matchFields": named("a")["matchFields"] + named("b")["matchFields"]}),
            dict.fromkeys("abc", CONFLICT),
            id="terms that name no node together refuse the pod",
        ),
        pytest.param(
            required(named("gone")), dict.fromkeys("abc", OUTSIDE), id="a node that is not there helps nobody"
        ),
    ],
)
def test_named_nodes(p, rejected):
    look = Look(*NODES, p)
    assert look.rejected == rejected
    assert look.framework.static_mask(look.pod).tolist() == [name not in rejected for name in "abc"]


def test_conflicting_names_end_before_preemption():
    p = required({"matchFields": named("a")["matchFields"] + named("b")["matchFields"]})
    cycle = pass_over(*NODES, p)["p"]
    assert cycle["message"] == "0/3 nodes are available: pod affinity terms conflict. not found"
    assert cycle["preFilter"]["plugin"] == "NodeAffinity"


ENFORCED = profile(
    args={
        "NodeAffinity": {
            "addedAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [label("disk", "Exists")]
                },
                "preferredDuringSchedulingIgnoredDuringExecution": [
                    {"weight": 40, "preference": label("gen", "In", "10")}
                ],
            }
        }
    }
)


def test_the_profile_adds_its_own_affinity_which_comes_first():
    assert Look(*NODES, pod("p").select(disk="ssd"), configuration=ENFORCED).rejected == {
        "b": NO_MATCH,
        "c": ADDED,
    }


@pytest.mark.parametrize(
    "p, configuration, scores",
    [
        pytest.param(pod("p"), None, None, id="a pod without wishes is skipped"),
        pytest.param(
            preferred((10, label("disk", "In", "ssd")), (30, label("gen", "Exists"))),
            None,
            [200, 150, 0],
            id="the weights of matching terms add up, the best node gets 100",
        ),
        pytest.param(preferred((10, {})), None, [0, 0, 0], id="an empty term is worth nothing"),
        pytest.param(
            preferred((60, label("disk", "In", "ssd"))),
            ENFORCED,
            [200, 132, 0],
            id="the profile's wishes count too",
        ),
    ],
)
def test_score(p, configuration, scores):
    found = Look(*NODES, p, configuration=configuration).scores("NodeAffinity")
    assert (found and list(found.values())) == scores


def test_an_unreadable_wish_ends_the_cycle_in_an_error():
    cycle = pass_over(*NODES, preferred((5, label("gen", "Gt", "-1"))).nominated("zz"))["p"]
    assert cycle["error"]
    assert cycle["result"] == "unschedulable"
    assert "NodeAffinity" in cycle["message"]


def test_equal_selectors_share_one_mask():
    twins = Cluster(cluster(*NODES, pod("p").select(disk="ssd"), pod("q").select(disk="ssd")))
    p, q = twins.pods
    assert p.cls == q.cls
    framework = framework_for(twins, p.index)
    assert framework.static_mask(p.index) is framework.static_mask(q.index)
