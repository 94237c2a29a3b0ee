"""Random rounds with pod groups, on top of every other constraint family.

In the mix by construction: two groups beside plain pods; gangs that cannot start, that may, and that run
already; running members in one rack, in several, off the key; gated members; groups that wait for their
object or for members; racks nested in blocks, or crossing rows; preferred keys; groups that expect more
members than there are; replicas of one group of a Workload; members of different priorities and sizes.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.pod import PodSchedulingGroup, WorkloadReference
from support.builders import group, workload
from support.choices import Choices
from support.strategies import SMALL, Size, generate

RACK, BLOCK, ROW = "rack", "block", "row"

TINY = Size(nodes=(2, 3, 4, 4), running=(0, 1, 2, 3, 4), pending=(2, 3, 4, 5, 6), apps=2, cores=4)

KINDS = {
    "gang": 0.75,
    "topology": 0.75,
    "nested": 0.3,
    "crossing": 0.3,
    "preferred": 0.35,
    "desired": 0.4,
    "running": 0.5,
    "gated": 0.15,
    "waiting": 0.08,
    "replicas": 0.15,
    "unlabelled": 0.2,
    "one priority": 0.6,
}
"""Kind of group to the share of rounds that use it."""


def tiny_groups(seed):
    """Return the tiny round of a seed."""
    return gathered(Random(seed), TINY, f"tiny-groups-{seed}")


def small_groups(seed):
    """Return the small round of a seed."""
    return gathered(Random(seed), SMALL, f"small-groups-{seed}")


tiny_group_rounds = st.randoms(use_true_random=False).map(lambda rng: gathered(rng, TINY, "tiny-groups"))


def gathered(rng, size, name):
    """Make a round and gather its pods in groups."""
    return Gatherer(rng, generate(rng, size, name, often=0.45)).snapshot()


class Gatherer(Choices):
    """Puts pods of a round in groups, and nodes in racks."""

    def __init__(self, rng, bare):
        super().__init__(rng, KINDS)
        self.bare = bare

    def snapshot(self):
        """Gather the pods."""
        self.names = ["g", "h"][: self.pick(1, 2, 2)]
        self.replicas = self.uses("replicas")
        self.levels = {}
        self.chosen = {}
        self.count = dict.fromkeys(self.names, 0)
        pods = tuple(self._pod(pod) for pod in self.bare.pods)
        made = {
            name: self._rules(name) for name in self.names if not (self.uses("waiting") and self.chance(0.3))
        }
        nodes = tuple(self._node(k, node) for k, node in enumerate(self.bare.nodes))
        if self.replicas:
            templates = [{"name": name, **spec} for name, spec in made.items()]
            return replace(self.bare, nodes=nodes, pods=pods, workloads=(workload("w", *templates),))
        version = "v1beta1" if self.chance(0.1) else "v1alpha2"
        groups = tuple(self._group(name, spec, version) for name, spec in made.items())
        return replace(self.bare, nodes=nodes, pods=pods, pod_groups=groups)

    def _node(self, k, node):
        labels = {RACK: f"r{k % 2 + 1}"} if not self.chance(0.15) else {RACK: f"r{self.pick(1, 2)}"}
        if self.uses("crossing"):
            labels[ROW] = f"w{k // 2 + 1}"
        if self.uses("nested"):
            labels[BLOCK] = "b1"
        if self.uses("unlabelled") and self.chance(0.3):
            labels.pop(self.pick(*labels))
        metadata = node.metadata.model_copy(update={"labels": {**node.metadata.labels, **labels}})
        return node.model_copy(update={"metadata": metadata})

    def _pod(self, pod):
        name = self._group_of(pod)
        if name is None:
            return pod
        self.count[name] += 1
        if self.replicas:
            replica = self.pick("0", "0", "1")
            change = {
                "workload_ref": WorkloadReference(name="w", pod_group=name, pod_group_replica_key=replica)
            }
        else:
            change = {"scheduling_group": PodSchedulingGroup(pod_group_name=name)}
        if self.uses("one priority") and not pod.spec.node_name:
            change["priority"] = self.levels.setdefault(name, pod.spec.priority or 0)
        return pod.model_copy(update={"spec": pod.spec.model_copy(update=change)})

    def _group_of(self, pod):
        """Choose a group: pods of one template mostly share it."""
        if pod.namespace != "default":
            return None
        gated = bool(pod.spec.scheduling_gates)
        if pod.spec.node_name:
            return self.pick(*self.names) if self.uses("running") and self.chance(0.35) else None
        if gated:
            return self.pick(*self.names) if self.uses("gated") else None
        template = pod.name.partition("-")[0]
        if template not in self.chosen:
            self.chosen[template] = self.pick(*self.names) if self.chance(0.85) else None
        if self.chosen[template] is not None and self.chance(0.1):
            return self.pick(None, *self.names)
        return self.chosen[template]

    def _rules(self, name):
        """Write a group's policy and constraints."""
        spec = {}
        if self.uses("gang") and self.chance(0.8):
            least = self.count[name] - self.pick(0, 0, 0, 1, 1, 2, 3, -1)
            spec["schedulingPolicy"] = {"gang": {"minCount": max(1, least)}}
        else:
            desired = self.pick(1, 2, 3, 4, 6) if self.uses("desired") else None
            spec["schedulingPolicy"] = {"basic": {"desiredCount": desired}}
        topology = []
        if self.uses("topology") and self.chance(0.8):
            topology.append({"key": self.pick(RACK, RACK, RACK, BLOCK, ROW)})
            if self.chance(0.25):
                topology.append({"key": self.pick(RACK, BLOCK, ROW, "topology.kubernetes.io/zone")})
        if self.uses("preferred"):
            topology.append({"key": self.pick(RACK, ROW, "kubernetes.io/hostname"), "mode": "Preferred"})
        return {**spec, "schedulingConstraints": {"topology": topology}}

    def _group(self, name, spec, version):
        return group(name, version=version, **spec)
