"""Random rounds with trees of groups, on top of every other constraint family.

In the mix by construction: two to four PodGroups below one or two roots, with a level between or not;
policies of both kinds on every level, some that cannot be met; racks nested in blocks, or crossing rows; keys
on every level, in the order of the domains and against it; running members in one block, in several, off the
key; children that no pod names; PodGroups outside the tree beside it; members of one priority, or at odds.
"""

from dataclasses import replace
from random import Random

from hypothesis import strategies as st

from kubestow.models.kube_version import KubeVersion
from kubestow.models.pod import PodSchedulingGroup
from support.builders import composite, group
from support.choices import Choices
from support.group_rounds import BLOCK, RACK, ROW, TINY
from support.strategies import SMALL, generate

KINDS = {
    "gang": 0.8,
    "middle": 0.5,
    "two roots": 0.2,
    "topology": 0.75,
    "crossing": 0.3,
    "running": 0.5,
    "unlabelled": 0.15,
    "outside": 0.25,
    "empty child": 0.15,
    "at odds": 0.1,
}
"""Kind of tree to the share of rounds that use it."""


def tiny_trees(seed):
    """Return the tiny round of a seed."""
    return planted(Random(seed), TINY, f"tiny-trees-{seed}")


def small_trees(seed):
    """Return the small round of a seed."""
    return planted(Random(seed), SMALL, f"small-trees-{seed}")


tiny_tree_rounds = st.randoms(use_true_random=False).map(lambda rng: planted(rng, TINY, "tiny-trees"))


def planted(rng, size, name):
    """Make a round and put its pods in trees."""
    return Planter(rng, generate(rng, size, name, often=0.15)).snapshot()


class Planter(Choices):
    """Puts pods of a round in trees of groups, and nodes in racks in blocks."""

    def __init__(self, rng, bare):
        super().__init__(rng, KINDS)
        self.bare = bare

    def snapshot(self):
        """Plant the trees."""
        self.leaves = ["w", "x", "y", "z"][: self.pick(2, 2, 3, 4)]
        self.count = dict.fromkeys(self.leaves, 0)
        self.level = self.pick(0, 1, 5)
        pods = tuple(self._pod(pod) for pod in self.bare.pods)
        return replace(
            self.bare,
            kube_version=KubeVersion.V1_37,
            nodes=tuple(self._node(k, node) for k, node in enumerate(self.bare.nodes)),
            pods=pods,
            pod_groups=tuple(self._groups()),
            composite_pod_groups=tuple(self._composites()),
        )

    def _node(self, k, node):
        labels = {RACK: f"r{k % 3 + 1}", BLOCK: "b1" if k % 3 < 2 else "b2"}
        if self.uses("crossing"):
            labels[ROW] = f"w{k // 2 + 1}"
        if self.uses("unlabelled") and self.chance(0.3):
            labels.pop(self.pick(*labels))
        metadata = node.metadata.model_copy(update={"labels": {**node.metadata.labels, **labels}})
        return node.model_copy(update={"metadata": metadata})

    def _pod(self, pod):
        if pod.namespace != "default":
            return pod
        if pod.spec.node_name and not (self.uses("running") and self.chance(0.35)):
            return pod
        if self.chance(0.15):
            return pod
        name = self.pick(*self.leaves)
        self.count[name] += 1
        change = {"scheduling_group": PodSchedulingGroup(pod_group_name=name)}
        if not pod.spec.node_name and not (self.uses("at odds") and self.chance(0.3)):
            change["priority"] = self.level
        return pod.model_copy(update={"spec": pod.spec.model_copy(update=change)})

    def _policy(self, most):
        if self.uses("gang") and self.chance(0.8):
            return max(1, most - self.pick(0, 0, 0, 1, 1, 2, -1))
        return None

    def _keys(self, *choices):
        return [self.pick(*choices)] if self.uses("topology") and self.chance(0.6) else []

    def _groups(self):
        self.parents = ["root", "other"] if self.uses("two roots") else ["root"]
        self.middles = {"left": self.pick(*self.parents), "right": "root"} if self.uses("middle") else {}
        self.children = dict.fromkeys([*self.parents, *self.middles], 0)
        for parent in self.middles.values():
            self.children[parent] += 1
        names = [*self.leaves, *(["nobody"] if self.uses("empty child") else [])]
        for name in names:
            parent = self.pick(*self.parents, *self.middles, *self.middles)
            if self.uses("outside") and self.chance(0.3):
                parent = None
            else:
                self.children[parent] += 1
            least = self._policy(self.count.get(name, 1))
            yield group(name, *self._keys(RACK, RACK, BLOCK, ROW), gang=least, parent=parent)

    def _composites(self):
        for name in (*self.parents, *self.middles):
            keys = self._keys(BLOCK, BLOCK, RACK, ROW)
            least = self._policy(self.children[name])
            yield composite(name, *keys, gang=least, parent=self.middles.get(name))
