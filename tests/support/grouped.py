"""Rounds with pod groups, seen in names."""

import numpy as np

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.rules.groups import groups
from kubestow.framework.runs.diagnosis import diagnose
from kubestow.framework.runs.greedy import run_to_quiescence
from kubestow.framework.runs.trace import trace_cluster
from kubestow.framework.workload.choice import variant_for
from kubestow.framework.workload.cycle import schedule_group
from kubestow.framework.workload.placement import Placement, info_of
from kubestow.framework.workload.units import opening
from support.builders import cluster, node
from support.moves import in_words


def profile(**args):
    """Write a KubeSchedulerConfiguration with arguments of GangScheduling."""
    return {"profiles": [{"pluginConfig": [{"name": "GangScheduling", "args": args}]}]}


CURRENT = profile(workloadCycle="Current")
"""In a round of 1.34 the rules of 1.37."""


def rack(name, *nodes, **offer):
    """Nodes of a rack by name and cpu: ``rack("r1", ("a", 4), ("b", 4))``."""
    return [node(n, cpu=str(cpu)).label(rack=name).offer(**offer) for n, cpu in nodes]


class Grouped:
    """A round, its groups and what greedy makes of it; in 1.34 by the rules of the proposal."""

    def __init__(self, *objects, gates="", configuration=None, release="1.34"):
        self.cluster = build_cluster(
            cluster(*objects, gates=gates, configuration=configuration, release=release)
        )
        self.state = opening(self.cluster)

    def name(self, i):
        return self.cluster.pods[i].pod.name

    @property
    def groups(self):
        return groups(self.cluster)

    @property
    def info(self):
        """The only group, as a cycle sees it."""
        (only,) = self.groups
        return info_of(self.cluster, self.state, only)

    @property
    def variant(self):
        return variant_for(self.cluster, self.info.pods[0])

    def cycle(self):
        """Run a cycle of the only group."""
        (only,) = self.groups
        return schedule_group(self.cluster, self.state, only, Ledger(self.cluster))

    def placements(self):
        """The placements of the only group by name, with their nodes; the text where there is none."""
        found = [self.everywhere()]
        for generator in self.variant.generators:
            found = generator.generate_placements(self.state, self.info, found)
            if hasattr(found, "message"):
                return found.message
        names = self.cluster.node_names
        return {p.name: [name for name, inside in zip(names, p.nodes, strict=True) if inside] for p in found}

    def everywhere(self):
        return Placement("", np.ones(self.cluster.n_nodes, dtype=bool))

    # -- greedy --

    @property
    def outcome(self):
        if not hasattr(self, "_outcome"):
            self._outcome = run_to_quiescence(self.cluster)
        return self._outcome

    @property
    def steps(self):
        return in_words(self.cluster, self.outcome.steps)

    @property
    def placed(self):
        return {self.name(i): self.cluster.node_names[n] for i, n in self.outcome.node_of_new.items()}

    @property
    def left_out(self):
        """The text of each pod left out, judged on the end."""
        return {
            self.name(i): diagnose(self.cluster, self.outcome.state, i).message
            for i in (*self.cluster.pending, *self.cluster.gated)
            if self.outcome.state.node_of[i] < 0
        }

    @property
    def blocked_by(self):
        return {
            self.name(i): diagnose(self.cluster, self.outcome.state, i).blocked_by
            for i in (*self.cluster.pending, *self.cluster.gated)
            if self.outcome.state.node_of[i] < 0
        }

    @property
    def trace(self):
        """The cycles of one pass by pod, without the namespace."""
        return {c["pod"].partition("/")[2]: c for c in self.document["cycles"]}

    @property
    def document(self):
        """The trace of one pass."""
        return trace_cluster(self.cluster)

    @property
    def group_cycles(self):
        """The groups' entries of one pass by group, without the namespace."""
        return {g["podGroup"].partition("/")[2]: g for g in self.document["groups"]}
