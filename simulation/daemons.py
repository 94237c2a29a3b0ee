"""DaemonSets: a pod on every node that takes it.

A node takes one if the template names no other, its labels satisfy the template's nodeSelector and required
affinity, and its hard taints are tolerated. A pod that runs stays where only a NoSchedule taint has come
since. Room does not matter: the pod waits for it, by its priority. Each pod is bound to its node by an
affinity to the node's name, which takes the place of the template's terms. A template that changes holds for
pods to come.

Source: kubernetes pkg/controller/daemon/daemon_controller.go, util/daemonset_util.go.
"""

from collections.abc import Iterable
from typing import Final

from ..framework.index.taints import first_untolerated
from ..framework.queue.node_check import selects
from ..models.affinity import Affinity, NodeAffinity
from ..models.controllers import DaemonSet
from ..models.daemons import node_meant
from ..models.defaulting import default_pod
from ..models.features import FeatureGates
from ..models.meta import KubeObject
from ..models.node import Node
from ..models.pod import Pod, PodSpec, PodStatus, Toleration, TolerationEffect
from ..models.scenario import Put, Scenario
from ..models.selectors import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from .agenda import LATE
from .disruptions import Disruptions
from .offspring import Key, Offspring, owned_by
from .world import World

_KIND: Final = "DaemonSet"
_NAME: Final = "metadata.name"
_REQUIRED: Final = "required_during_scheduling_ignored_during_execution"


def _tolerate(condition: str, effect: TolerationEffect) -> Toleration:
    return Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)


_TOLERATIONS: Final = (
    _tolerate("not-ready", "NoExecute"),
    _tolerate("unreachable", "NoExecute"),
    _tolerate("disk-pressure", "NoSchedule"),
    _tolerate("memory-pressure", "NoSchedule"),
    _tolerate("pid-pressure", "NoSchedule"),
    _tolerate("unschedulable", "NoSchedule"),
)
_OF_HOST_NETWORK: Final = _tolerate("network-unavailable", "NoSchedule")


class Daemons:
    """The controller.

    Parameters
    ----------
    world : World
    disruptions : Disruptions
        Through which pods are deleted.
    """

    def __init__(self, world: World, disruptions: Disruptions) -> None:
        self._world = world
        self._disruptions = disruptions
        self._offspring = Offspring(world, {_KIND: DaemonSet})
        self._on: dict[tuple[Key, str], dict[str, None]] = {}
        self._dirty_sets: dict[Key, None] = {}
        self._dirty_nodes: dict[str, None] = {}
        self._scheduled = False
        world.listeners.add(self._changed, "Pod", owned=True)
        world.listeners.add(self._changed, "DaemonSet")
        self._of_nodes = world.listeners.add(self._changed, "Node", asleep=not _has_any(world.scenario))

    def of(self, node: Node) -> list[Pod]:
        """Return what the DaemonSets of this moment would put on a node, one pod each."""
        sets = self._world.objects.all(DaemonSet)
        return [
            Pod(spec=item.spec.template.spec) for item in sets if _takes(item, node, self._world.gates)[0]
        ]

    # -- who has to look ------------------------------------------------------------

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        item = new if new is not None else old
        if isinstance(item, Pod):
            if old is not None and new is not None and not item.is_terminal:
                return
            key = self._offspring.parent(item)
            if key is not None:
                self._offspring.follow(key, old, new)
                node = node_meant(item)
                there = self._on.setdefault((key, node), {})
                if new is not None:
                    there[item.key] = None
                else:
                    there.pop(item.key, None)
                self._dirty_nodes[node] = None
                if self._world.objects.get(DaemonSet, key[1]) is None:
                    self._dirty_sets[key] = None
                self._touch()
        elif isinstance(item, DaemonSet):
            self._world.listeners.wake(self._of_nodes)
            if new is None:
                self._offspring.deleted(item)
            self._dirty_sets[item.kind, item.key] = None
            self._touch()
        elif isinstance(item, Node):
            self._dirty_nodes[item.name] = None
            self._touch()

    def _touch(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._world.agenda.after(0, self._run, LATE)

    def _run(self) -> None:
        self._scheduled = False
        sets, self._dirty_sets = self._dirty_sets, {}
        nodes, self._dirty_nodes = self._dirty_nodes, {}
        world = self._world
        for key in sets:
            item = world.objects.get(DaemonSet, key[1])
            if item is None:
                for pod in self._offspring.orphans(key):
                    self._disruptions.delete(pod)
            else:
                for node in world.objects.all(Node):
                    self._settle(item, node)
        for item in world.objects.all(DaemonSet):
            for name in nodes:
                found = world.node(name)
                if found is not None:
                    self._settle(item, found)
                else:
                    self._clear(item, name)

    # -- one set on one node ------------------------------------------------------------

    def _pods(self, item: DaemonSet, node: str) -> list[Pod]:
        """Return a set's pods on a node, or meant for it."""
        there = self._on.get(((item.kind, item.key), node), {})
        return [pod for pod in self._offspring.pods(item, there) if not pod.is_terminal]

    def _settle(self, item: DaemonSet, node: Node) -> None:
        comes, stays = _takes(item, node, self._world.gates)
        pods = self._pods(item, node.name)
        if comes and not pods:
            spec = _spec(item, node)
            update = {"affinity": spec.affinity, "tolerations": spec.tolerations}
            self._offspring.create(item, item.spec.template, self._offspring.next_name(item), spec=update)
            return
        # Of several the one that runs stays, the oldest of them.
        running = sorted(pods, key=lambda pod: (not pod.spec.node_name, pod.is_terminating))
        for pod in running[1:] if stays else running:
            self._disruptions.delete(pod)

    def _clear(self, item: DaemonSet, node: str) -> None:
        """Let the pods go that were meant for a node that is gone; those on it go with it."""
        for pod in self._pods(item, node):
            if not pod.spec.node_name:
                self._disruptions.delete(pod)


def _has_any(scenario: Scenario) -> bool:
    """Whether a scenario has DaemonSets, or will have some."""
    puts = (event.action.objects for event in scenario.events if isinstance(event.action, Put))
    coming = (item for objects in puts for item in objects)
    return bool(scenario.snapshot.daemon_sets) or any(isinstance(item, DaemonSet) for item in coming)


def daemons_on(node: Node, sets: Iterable[DaemonSet], gates: FeatureGates) -> list[Pod]:
    """Return the pods that DaemonSets put on a new node, not yet admitted; each is bound to it in the end.

    Parameters
    ----------
    node : Node
        A node without pods.
    sets : iterable of DaemonSet
    gates : FeatureGates
    """
    found = []
    for item in sets:
        if not _takes(item, node, gates)[0]:
            continue
        template = item.spec.template
        pod = default_pod(Pod(metadata=template.metadata, spec=_spec(item, node)))
        meta = owned_by(item, f"{item.name}-{node.name}", dict(template.metadata.labels)).model_copy(
            update={"annotations": template.metadata.annotations}
        )
        found.append(pod.model_copy(update={"metadata": meta, "status": PodStatus(phase="Pending")}))
    return found


def _spec(item: DaemonSet, node: Node) -> PodSpec:
    """Return what a set's pod for a node asks for: the node by name, and to tolerate what all daemons do."""
    spec = item.spec.template.spec
    affinity = spec.affinity or Affinity()
    of_node = affinity.node_affinity or NodeAffinity()
    name = NodeSelectorRequirement(key=_NAME, operator="In", values=(node.name,))
    required = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
    of_node = of_node.model_copy(update={_REQUIRED: required})
    more = (*_TOLERATIONS, *((_OF_HOST_NETWORK,) if spec.host_network else ()))
    tolerations = (*spec.tolerations, *(each for each in more if each not in spec.tolerations))
    affinity = affinity.model_copy(update={"node_affinity": of_node})
    return spec.model_copy(update={"affinity": affinity, "tolerations": tolerations})


def _takes(item: DaemonSet, node: Node, gates: FeatureGates) -> tuple[bool, bool]:
    """Whether a node takes a set's pod, and whether one that is there stays."""
    template = item.spec.template
    if not selects(Pod(metadata=template.metadata, spec=template.spec), node):
        return False, False
    if template.spec.node_name not in (None, "", node.name):
        return False, False
    tolerations = _spec(item, node).tolerations
    evicting = [taint for taint in node.spec.taints if taint.effect == "NoExecute"]
    return (
        first_untolerated(node.spec.taints, tolerations, gates) is None,
        first_untolerated(evicting, tolerations, gates) is None,
    )
