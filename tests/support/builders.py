"""The builders of the Python interface, under the names that tests know them by."""

from kubestow.api.builders.nodes import NodeBuilder, node
from kubestow.api.builders.pods import PodBuilder, pod
from kubestow.api.builders.policies import BudgetBuilder, budget, composite, group, namespace, workload
from kubestow.api.builders.rounds import FIELDS, manifest
from kubestow.api.builders.rounds import snapshot_of as cluster
from kubestow.api.builders.values import KEYS, NOW, ago, key, selector

__all__ = [
    "FIELDS",
    "KEYS",
    "NOW",
    "BudgetBuilder",
    "NodeBuilder",
    "PodBuilder",
    "ago",
    "budget",
    "cluster",
    "composite",
    "group",
    "key",
    "manifest",
    "namespace",
    "node",
    "pod",
    "selector",
    "workload",
]
