"""The cluster autoscaler: nodes for pods that cannot be scheduled, and KEP-3990's condition on them.

Every scan looks at the pods whose PodScheduled is False. Those that fit the cluster with the nodes on their
way are left alone. For the rest each node group is tried: how many of them do new nodes of it take,
filled one node after another? One group that helps is chosen and ordered from. Pods that an order is for get
NodeProvisioningInProgress=True, pods that no group helps get False.

Sources: KEP-3990; kubernetes/autoscaler cluster-autoscaler core/scaleup/orchestrator, expander.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..models.daemons import is_daemon
from ..models.meta import Condition
from ..models.node import Node
from ..models.pod import Pod
from ..models.requests import pod_requests
from ..models.scenario import Autoscaler as Settings
from ..models.scenario import NodeGroup
from .agenda import EARLY
from .daemons import Daemons
from .first_fit import first_fit, waste
from .live_cluster import LiveCluster, LiveState
from .world import World

IN_PROGRESS = "NodeProvisioningInProgress"
GROUP_LABEL = "simulate.kubestow/node-group"


@dataclass(slots=True)
class _Group:
    """A node group now.

    Attributes
    ----------
    coming : dict of str to Node
        Ordered and not there yet.
    until, wait : int
        The end of its backoff, and the length of the next one.
    """

    settings: NodeGroup
    sold_out: bool
    wait: int
    made: int = 0
    until: int = 0
    coming: dict[str, Node] = field(default_factory=dict)
    there: dict[str, None] = field(default_factory=dict)
    empty_since: dict[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.coming) + len(self.there)

    def next_node(self, number: int) -> Node:
        name = f"{self.settings.name}-{self.made + number}"
        template = self.settings.template
        labels = {**template.metadata.labels, "kubernetes.io/hostname": name, GROUP_LABEL: self.settings.name}
        return template.model_copy(
            update={"metadata": template.metadata.model_copy(update={"name": name, "labels": labels})}
        )


@dataclass(frozen=True, slots=True)
class _Option:
    """What a group would do: how many new nodes for which pods, and how much of them stays unused."""

    group: _Group
    nodes: int
    pods: tuple[int, ...]
    waste: float

    @property
    def price(self) -> float:
        return self.nodes * self.group.settings.price


class Autoscaler:
    """See the module's docstring.

    Parameters
    ----------
    world : World
    settings : Autoscaler
        The scenario's.
    daemons : Daemons
        What new nodes have to do without.
    """

    def __init__(self, world: World, settings: Settings, daemons: Daemons) -> None:
        self._world = world
        self._daemons = daemons
        self._settings = settings
        self._random = random.Random(world.scenario.seed + settings.seed)
        self._groups = {
            group.name: _Group(group, group.sold_out, settings.backoff) for group in settings.groups
        }

    def start(self) -> None:
        """Start the smallest groups and the first scan, one interval from now."""
        for group in self._groups.values():
            for _ in range(group.settings.least):
                node = group.next_node(0)
                group.made += 1
                group.there[node.name] = None
                self._world.put(node)
        self._world.agenda.after(self._settings.scan, self._scan, EARLY)

    def set_stock(self, name: str, *, out: bool) -> None:
        """Mark a group as sold out, or as available again."""
        self._groups[name].sold_out = out

    # -- one scan ------------------------------------------------------------

    def _scan(self) -> None:
        self._world.agenda.after(self._settings.scan, self._scan, EARLY)
        waiting = self._waiting()
        if waiting:
            self._scale_up(waiting)
        if self._settings.unneeded:
            self._scale_down()

    def _waiting(self) -> list[Pod]:
        found = []
        for item in (*self._world.queue.unschedulable, *self._world.queue.backoff, *self._world.queue.active):
            pod = self._world.pod(item.key, item.uid)
            scheduled = pod.condition("PodScheduled") if pod is not None else None
            if (
                pod is not None
                and not is_daemon(pod)
                and scheduled is not None
                and (scheduled.status, scheduled.reason) == ("False", "Unschedulable")
                and not pod.status.nominated_node_name
            ):
                found.append(pod)
        return sorted(found, key=lambda pod: (-pod.priority, pod.key))

    def _scale_up(self, waiting: Sequence[Pod]) -> None:
        world = self._world
        cluster, state = world.follower.look()
        coming = tuple(node for group in self._groups.values() for node in group.coming.values())
        base, placed = self._extended(cluster, state, coming)
        left = first_fit(
            base, placed, [world.follower.number(pod.key) for pod in waiting], range(base.n_nodes)
        )
        if not left:
            return
        helped: set[int] = set()
        rest = left
        while rest:
            options = [
                option
                for group in self._groups.values()
                if world.clock.now >= group.until and group.size < group.settings.most
                if (option := self._try(group, base, placed, rest)) is not None
            ]
            if not options:
                break
            chosen = self._choose(options)
            self._order(chosen)
            helped.update(chosen.pods)
            more = tuple(node for group in self._groups.values() for node in group.coming.values())
            base, placed = self._extended(cluster, state, more)
            numbers = [world.follower.number(pod.key) for pod in waiting]
            rest = [i for i in first_fit(base, placed, numbers, range(base.n_nodes)) if i not in helped]
        for i in left:
            pod = world.pod(world.follower.key(i))
            if pod is not None:
                condition = Condition(type=IN_PROGRESS, status="True" if i in helped else "False")
                world.edit(pod, conditions=[condition])

    def _try(
        self, group: _Group, cluster: LiveCluster, state: LiveState, pods: Sequence[int]
    ) -> _Option | None:
        """Fill new nodes of a group one after another as long as each takes a pod."""
        rest = list(pods)
        added: tuple[Node, ...] = ()
        taken: list[int] = []
        now, placed = cluster, state
        while rest and group.size + len(added) < group.settings.most:
            added = (*added, group.next_node(len(added)))
            now, placed = self._extended(now, placed, added[-1:])
            left = first_fit(now, placed, rest, [now.n_nodes - 1])
            if len(left) == len(rest):
                added = added[:-1]
                break
            taken += [i for i in rest if i not in left]
            rest = left
        if not taken:
            return None
        return _Option(group, len(added), tuple(taken), waste(now, placed, {n.name for n in added}))

    def _choose(self, options: list[_Option]) -> _Option:
        if self._settings.expander == "random":
            return self._random.choice(options)

        def order(option: _Option) -> tuple[float, float, str]:
            cost = option.price / len(option.pods)
            first = cost if self._settings.expander == "price" else option.waste
            return (first, -len(option.pods), option.group.settings.name)

        return min(options, key=order)

    def _extended(
        self, cluster: LiveCluster, state: LiveState, nodes: tuple[Node, ...]
    ) -> tuple[LiveCluster, LiveState]:
        """Return the cluster and the state with more nodes, independent of the given ones.

        The DaemonSets' pods are on the new nodes already: what they ask for is not there for others.
        """
        more = cluster.fork()
        placed = state.fork(more)
        if nodes:
            more.set_nodes((*cluster.nodes, *nodes))
            sources = np.concatenate(
                [np.arange(cluster.n_nodes, dtype=np.int64), np.full(len(nodes), -1, dtype=np.int64)]
            )
            placed.renumber(sources)
        for n, node in enumerate(nodes, start=cluster.n_nodes):
            for daemon in self._daemons.of(node):
                more.take(n, pod_requests(daemon))
        return more, placed

    # -- the cloud ------------------------------------------------------------

    def _order(self, option: _Option) -> None:
        world, group = self._world, option.group
        nodes = [group.next_node(k) for k in range(option.nodes)]
        group.made += option.nodes
        group.coming.update((node.name, node) for node in nodes)
        world.record.write(
            "ScaleUp",
            group=group.settings.name,
            nodes=option.nodes,
            pods=[world.follower.key(i) for i in option.pods],
        )
        if group.sold_out:
            world.agenda.after(group.settings.refusal, lambda: self._refused(group, nodes))
        else:
            for node in nodes:
                world.agenda.after(group.settings.provisioning, partial(self._arrived, group, node))

    def _refused(self, group: _Group, nodes: Sequence[Node]) -> None:
        for node in nodes:
            group.coming.pop(node.name, None)
        group.until = self._world.clock.now + group.wait
        group.wait = min(group.wait * 2, self._settings.longest_backoff)
        self._world.record.write("StockOut", group=group.settings.name, until=group.until / 1e9)

    def _arrived(self, group: _Group, node: Node) -> None:
        if group.coming.pop(node.name, None) is not None:
            group.there[node.name] = None
            group.wait = self._settings.backoff
            self._world.put(node)

    # -- fewer nodes ------------------------------------------------------------

    def _scale_down(self) -> None:
        """Remove nodes that have been empty for long."""
        world = self._world
        for group in self._groups.values():
            for name in list(group.there):
                node = world.node(name)
                if node is None:
                    del group.there[name]
                    continue
                there = world.objects.pods_on(name).values()
                if not all(map(is_daemon, there)) or world.queue.nominator.pods_on(name):
                    group.empty_since.pop(name, None)
                    continue
                since = group.empty_since.setdefault(name, world.clock.now)
                if world.clock.now - since >= self._settings.unneeded and group.size > group.settings.least:
                    del group.there[name], group.empty_since[name]
                    world.record.write("ScaleDown", group=group.settings.name, node=name)
                    world.change(node, None)
