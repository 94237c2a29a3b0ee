"""Pods that are gone at once."""

import pytest
from support.what_if import changed, cluster, node, pod

from kubestow.models.errors import KubestowError


@pytest.mark.parametrize(
    "item, fate",
    [
        pytest.param(pod("p", "n1"), "lost", id="a pod without a controller is lost"),
        pytest.param(pod("p"), "lost", id="also one that waits"),
        pytest.param(pod("p", "n1", "ReplicaSet/web"), "made again", id="with a controller it is made again"),
        pytest.param(
            pod("p", "n1", terminating=True), "removed", id="one that is being deleted goes without loss"
        ),
        pytest.param(
            pod("p", "n1", "StatefulSet/web", terminating=True),
            "made again",
            id="but a StatefulSet makes the next one only now",
        ),
    ],
)
def test_what_becomes_of_a_pod_that_is_deleted(item, fate):
    found = changed(cluster(node("n1"), item), {"delete": "pod/shop/p"})
    fates = {
        "lost": "shop/p" in found.lost,
        "removed": "shop/p" in found.removed,
        "made again": "shop/p" in found.made_again,
    }
    assert [name for name, holds in fates.items() if holds] == [fate]
    assert [each.spec.node_name for each in found.snapshot.pods] == ([None] if fate == "made again" else [])


def test_a_pod_that_is_not_there_is_told():
    with pytest.raises(KubestowError, match="there is no Pod shop/p in the input"):
        changed(cluster(node("n1")), {"delete": "pod/shop/p"})
