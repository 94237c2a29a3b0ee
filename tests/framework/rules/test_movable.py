"""Which running pods may move, and why each other one may not."""

import pytest
from support.builders import budget, cluster, group, node, pod

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.movable import WITH_NODE, WORDS, movable
from kubestow.models.eviction_limits import PodSelector
from kubestow.models.moves import MoveOptions

SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
KEEP = "karpenter.sh/do-not-disrupt"
PLAIN = pod("p").label(app="web").owned().on("a")

CASES = {
    "a pod with a controller moves": (PLAIN, None),
    "a StatefulSet's pod moves": (PLAIN.owned("StatefulSet/db"), None),
    "a pod without a controller stays": (pod("p").on("a"), "no-controller"),
    "a DaemonSet's pod stays": (PLAIN.owned("DaemonSet/log"), "daemon"),
    "a pod of its node stays": (PLAIN.owned("Node/a"), "mirror"),
    "a mirror stays": (PLAIN.annotate("kubernetes.io/config.mirror", "1"), "mirror"),
    "a terminating pod stays": (PLAIN.terminating(), "terminating"),
    "a pod of another scheduler stays": (PLAIN.scheduler("theirs"), "other-scheduler"),
    "an emptyDir holds a pod": (PLAIN.volume(emptyDir={}), "empty-dir"),
    "a hostPath holds a pod": (PLAIN.volume(hostPath={"path": "/x"}), "host-path"),
    "a config map holds no pod": (PLAIN.volume(configMap={"name": "c"}), None),
    "safe-to-evict false holds a pod": (PLAIN.annotate(SAFE, "false"), "safe-to-evict"),
    "safe-to-evict true does not": (PLAIN.annotate(SAFE, "true"), None),
    "do-not-disrupt true holds a pod": (PLAIN.annotate(KEEP, "true"), "do-not-disrupt"),
    "do-not-disrupt false does not": (PLAIN.annotate(KEEP, "false"), None),
}


def verdict(*objects, **options):
    """Tell why pod p of a cluster may not move, None where it may."""
    found = build_cluster(cluster(node("a"), *objects))
    answer = movable(found, MoveOptions(**options))
    i = found.pod_index["default/p"]
    assert (i in answer.pods) != (i in answer.reasons)
    return answer.reasons.get(i)


@pytest.mark.parametrize("built, why", CASES.values(), ids=CASES)
def test_a_pod_by_itself(built, why):
    assert verdict(built) == why


@pytest.mark.parametrize(
    "built, options, why",
    [
        pytest.param(
            PLAIN.volume(emptyDir={}), {"delete_emptydir_data": True}, None, id="data may be deleted"
        ),
        pytest.param(
            PLAIN.volume(hostPath={}), {"delete_emptydir_data": True}, "host-path", id="not that of the node"
        ),
        pytest.param(PLAIN.volume(hostPath={}), {"ignore_host_path": True}, None, id="unless that is told"),
        pytest.param(PLAIN.annotate(SAFE, "false"), {"ignore_annotations": True}, None, id="told to ignore"),
        pytest.param(
            PLAIN, {"never_move": (PodSelector.parse("app=web"),)}, "never-move", id="a selector keeps it"
        ),
        pytest.param(
            PLAIN, {"never_move": (PodSelector.parse("app=db"),)}, None, id="another selector does not"
        ),
    ],
)
def test_options_widen_and_narrow(built, options, why):
    assert verdict(built, **options) == why


@pytest.mark.parametrize(
    "budgets, why",
    [
        pytest.param([], None, id="none"),
        pytest.param([budget("one", allowed=0, app="web")], None, id="one, of which the time may come"),
        pytest.param(
            [budget("one", allowed=1, app="web"), budget("all", {}, allowed=1)], "several-budgets", id="two"
        ),
        pytest.param(
            [budget("one", allowed=1, app="web"), budget("db", allowed=1, app="db")], None, id="one of two"
        ),
    ],
)
def test_the_eviction_api_refuses_pods_of_several_budgets(budgets, why):
    assert verdict(PLAIN, *budgets) == why


def test_members_of_a_group_that_is_evicted_whole_stay():
    whole = group("g", disruptionMode={"all": {}}, version="v1alpha3")
    assert verdict(whole, PLAIN.member("g")) == "evicted-whole"
    assert verdict(group("g", version="v1alpha3"), PLAIN.member("g")) is None


def test_only_what_goes_with_its_node_lets_it_become_empty():
    found = build_cluster(
        cluster(
            node("a"),
            PLAIN.named("d").owned("DaemonSet/log"),
            pod("alone").on("a"),
            PLAIN.named("t").terminating(),
        )
    )
    answer = movable(found, MoveOptions())
    assert {found.pods[i].pod.name: why for i, why in answer.blocking().items()} == {"alone": "no-controller"}


def test_every_reason_has_words():
    assert set(WORDS) >= {why for _, why in CASES.values() if why} | WITH_NODE
