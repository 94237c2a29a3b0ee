from support.builders import cluster, node, pod
from support.filtering import Look

from kubestow.framework.index.cluster import Cluster
from kubestow.framework.plugins.node_name import REASON, NodeName
from kubestow.models.config import PluginArgs


def test_a_pod_that_names_no_node_may_go_anywhere():
    assert Look(node("a"), node("b"), pod("p")).rejected == {}


def test_a_pod_that_names_its_node_fits_on_no_other():
    plugin = NodeName(Cluster(cluster(node("a"), node("b"), pod("p").on("b"))), PluginArgs())
    assert plugin.verdicts(0).tolist() == [1, 0]
    assert plugin.explain(0, 0, 1) == (REASON,)
