import pytest
from support.builders import cluster, node, pod
from support.changing import hint
from support.filtering import Look
from support.proof import check_optimal

from kubestow.framework.build import build_cluster
from kubestow.models.errors import KubestowError

LACKING = "UAU NodeDeclaredFeatures: node(s) didn't match Pod's required features"
RESTART = "RestartAllContainersOnContainerExits"
USERS = "UserNamespacesHostNetworkSupport"
RULE = {
    "restartPolicyRules": [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
}


def with_spec(**fields):
    return pod("p").changed(lambda d: d["spec"].update(fields))


RESTARTING = pod("p").changed(lambda d: d["spec"]["containers"][0].update(RULE))
IN_ITS_OWN_USERS = with_spec(hostNetwork=True, hostUsers=False)


@pytest.mark.parametrize(
    "p, needed",
    [
        pytest.param(pod("p"), [], id="a plain pod needs nothing"),
        pytest.param(RESTARTING, [RESTART], id="a rule that restarts all containers"),
        pytest.param(
            with_spec(initContainers=[{"name": "i", **RULE}]), [RESTART], id="in an init container as well"
        ),
        pytest.param(
            pod("p").changed(
                lambda d: d["spec"]["containers"][0].update(restartPolicyRules=[{"action": "Restart"}])
            ),
            [],
            id="a rule that restarts the container alone needs nothing",
        ),
        pytest.param(IN_ITS_OWN_USERS, [USERS], id="the host's network without the host's users"),
        pytest.param(with_spec(hostNetwork=True), [], id="the host's network with the host's users"),
        pytest.param(with_spec(hostUsers=False), [], id="own users in a network of the pod's"),
    ],
)
def test_nodes_must_declare_what_a_pod_needs(p, needed):
    nodes = [node("a"), node("b").declare(RESTART), node("c").declare(RESTART, USERS)]
    declared = {"a": set(), "b": {RESTART}, "c": {RESTART, USERS}}
    lacking = {name: LACKING for name, has in declared.items() if not set(needed) <= has}
    assert Look(*nodes, p).rejected == lacking
    assert Look(*nodes, p, gates="NodeDeclaredFeatures=false").rejected == {}
    assert Look(*nodes, p, release="1.34").rejected == {}


def test_1_34_does_not_know_the_plugin():
    named = {"profiles": [{"plugins": {"filter": {"enabled": [{"name": "NodeDeclaredFeatures"}]}}}]}
    build_cluster(cluster(node("a"), configuration=named))
    with pytest.raises(KubestowError, match="NodeDeclaredFeatures"):
        build_cluster(cluster(node("a"), configuration=named, release="1.34"))


def test_pods_that_need_different_features_are_no_class():
    infos = build_cluster(cluster(node("a"), RESTARTING, pod("q"))).pods
    assert infos[0].cls != infos[1].cls


def test_the_optimum_goes_by_the_same_nodes():
    """The flexible pod leaves the one node that declares the feature to the pod that needs it."""
    check_optimal(
        cluster(
            node("a", cpu="1").declare(RESTART),
            node("b", cpu="1"),
            pod("q").req(cpu="1").priority(1),
            RESTARTING.req(cpu="1"),
        )
    )


@pytest.mark.parametrize(
    "waiting, old, new, answer",
    [
        pytest.param(RESTARTING, None, node("n"), "Queue", id="a node comes"),
        pytest.param(RESTARTING, node("n"), node("n").declare(RESTART), "Queue", id="a node declares more"),
        pytest.param(
            RESTARTING, node("n"), node("n").label(a="b"), "QueueSkip", id="another change of a node"
        ),
        pytest.param(
            RESTARTING, RESTARTING, RESTARTING.label(a="b"), "QueueSkip", id="the pod needs the same"
        ),
        pytest.param(RESTARTING, pod("q"), pod("q").label(a="b"), "QueueSkip", id="an update of another pod"),
    ],
)
def test_what_a_pod_waits_for(waiting, old, new, answer):
    assert hint("NodeDeclaredFeatures", waiting, old, new) == answer
