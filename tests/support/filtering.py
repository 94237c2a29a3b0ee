"""What the framework says about one pod, in a notation short enough for a table.

A rejection is written `U Plugin: reason; reason` or, where preemption cannot help, `UAU Plugin: reason`.
"""

from dataclasses import replace

import numpy as np

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.cycle import schedule_one
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.runs.trace import trace_cluster
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.status import Code
from support import builders

_SHORT = {Code.UNSCHEDULABLE: "U", Code.UNRESOLVABLE: "UAU"}


def written(status):
    """Write a status in the short notation; empty where it passes."""
    if status.ok:
        return ""
    return f"{_SHORT[status.code]} {status.plugin}: {'; '.join(status.reasons)}"


class Look:
    """One pod (named `p` unless told otherwise) before a cluster, with the state of the input."""

    def __init__(self, *objects, name="p", gates="", configuration=None, **more):
        snapshot = builders.cluster(*objects, gates=gates, configuration=configuration)
        if more:  # kinds that the builders do not know, as fields of the snapshot
            snapshot = replace(snapshot, **more)
        self.cluster = build_cluster(snapshot)
        self.state = State.initial(self.cluster, nominations=True)
        self.pod = next(info.index for info in self.cluster.pods if info.pod.name == name)
        self.framework = framework_for(self.cluster, self.pod)

    def node(self, name):
        return self.cluster.node_index[name]

    @property
    def rejected(self):
        """Node to rejection, for every node that does not take the pod; both ways of filtering agree."""
        result = self.framework.filter_all(self.state, self.pod)
        together = {name: written(result.status(n)) for n, name in enumerate(self.cluster.node_names)}
        apart = {
            name: written(self.framework.filter_node(self.state, self.pod, n))
            for n, name in enumerate(self.cluster.node_names)
        }
        assert together == apart
        return {name: text for name, text in together.items() if text}

    def scores(self, plugin):
        """Node to weighted score of one plugin over all nodes, feasible or not; None where it skips."""
        nodes = np.arange(self.cluster.n_nodes, dtype=np.int64)
        scores = self.framework.score(self.state, self.pod, nodes)
        if plugin not in scores:
            return None
        return dict(zip(self.cluster.node_names, scores[plugin].tolist(), strict=True))

    @property
    def message(self):
        """The text of the pod's condition after one cycle; empty where it would be bound."""
        cycle = schedule_one(self.framework, self.state, self.pod, Ledger(self.cluster))
        return cycle.message(self.cluster.n_nodes)


def pass_over(*objects, gates="", configuration=None):
    """Pod name to its cycle's document, for one pass."""
    document = trace_cluster(
        build_cluster(builders.cluster(*objects, gates=gates, configuration=configuration))
    )
    return {cycle["pod"].partition("/")[2]: cycle for cycle in document["cycles"]}


def profile(*, args=None, **plugins):
    """Write a configuration with one profile: plugin arguments by plugin, plugins by extension point."""
    configured = [{"name": name, "args": given} for name, given in (args or {}).items()]
    return {"profiles": [{"plugins": plugins, "pluginConfig": configured}]}
