"""Nodes at work: bound pods start, finish and terminate; silent nodes do none of it."""

from typing import Final

from ..framework.events.changes import identity
from ..models.annotations import RUNS_FOR
from ..models.meta import Condition, KubeObject
from ..models.node import Node, Taint
from ..models.pod import Pod, Toleration
from .agenda import EARLY, USUAL
from .disruptions import Disruptions
from .listeners import Whereabouts
from .world import World

UNREACHABLE: Final = "node.kubernetes.io/unreachable"
_GRACE: Final = 30
_SECOND: Final = 1_000_000_000


class Kubelet:
    """All kubelets together, and the controller that evicts from silent nodes.

    Parameters
    ----------
    world : World
    disruptions : Disruptions
    """

    def __init__(self, world: World, disruptions: Disruptions) -> None:
        self._world = world
        self._disruptions = disruptions
        self._dark: dict[str, int] = {}
        world.listeners.add(self._changed, "Pod", "Node", only=Whereabouts.ON_NODE)

    def _changed(self, old: KubeObject | None, new: KubeObject | None) -> None:
        if new is None and isinstance(old, Node):
            self._dark.pop(old.name, None)
            for pod in list(self._world.objects.pods_on(old.name).values()):
                self._world.agenda.after(0, self._leave, EARLY, pod.key, identity(pod))
        if not isinstance(new, Pod) or not new.spec.node_name or new.is_terminal:
            return
        before = old if isinstance(old, Pod) else None
        if before is not None and before.metadata is new.metadata:
            # As most often: it is bound, or it runs.
            if before.spec.node_name:
                if new.status.phase == "Running" and before.status.phase != "Running":
                    self._run_on(new)
            elif new.status.phase != "Running":
                self._start_later(new)
            return
        if new.is_terminating and not (before is not None and before.is_terminating):
            grace = new.spec.termination_grace_period_seconds
            seconds = _GRACE if grace is None else max(grace, 0)
            time = min(seconds * _SECOND, self._world.pace.stop)
            self._world.agenda.after(time, self._leave, USUAL, new.key, identity(new))
        elif (before is None or not before.spec.node_name) and new.status.phase != "Running":
            if before is not None or new.status.phase == "Pending":
                self._start_later(new)
            else:
                self._run_on(new)
        elif before is None or (before.status.phase != "Running" and new.status.phase == "Running"):
            self._run_on(new)

    def _start_later(self, pod: Pod) -> None:
        self._world.agenda.after(self._world.pace.start, self._start, USUAL, pod.key, identity(pod))

    def _start(self, key: str, uid: str) -> None:
        pod = self._world.pod(key, uid)
        if pod is None or pod.is_terminating or pod.spec.node_name in self._dark:
            return
        self._world.run(pod)

    def _run_on(self, pod: Pod) -> None:
        time = pod.metadata.annotations.get(RUNS_FOR)
        if time is not None:
            self._world.agenda.after(int(time), self._finish, USUAL, pod.key, identity(pod))

    def _finish(self, key: str, uid: str) -> None:
        pod = self._world.pod(key, uid)
        if pod is not None and not pod.is_terminating and pod.spec.node_name not in self._dark:
            self._world.finish(pod)

    def _leave(self, key: str, uid: str) -> None:
        """Remove a terminating pod, unless its node is silent; without a node it is removed in any case."""
        pod = self._world.pod(key, uid)
        if pod is None or pod.spec.node_name in self._dark:
            return
        if pod.is_terminating or self._world.node(pod.spec.node_name or "") is None:
            self._world.remove_pod(pod)

    # -- silence ------------------------------------------------------------

    def set_dark(self, label: str, value: str, *, dark: bool) -> None:
        """Silence the nodes of a domain, or let them answer again."""
        for node in self._world.objects.all(Node):
            if node.metadata.labels.get(label) == value and (node.name in self._dark) != dark:
                if dark:
                    self._silence(node)
                else:
                    self._return(node)

    def _silence(self, node: Node) -> None:
        world = self._world
        self._dark[node.name] = world.clock.now
        taints = tuple(Taint(key=UNREACHABLE, effect=effect) for effect in ("NoSchedule", "NoExecute"))
        ready = Condition(type="Ready", status="Unknown", reason="NodeStatusUnknown")
        world.change(node, _changed_node(node, (*_other_taints(node), *taints), ready))
        since = self._dark[node.name]
        for pod in world.objects.pods_on(node.name).values():
            time = _tolerated(pod, world.pace.dark)
            if time is not None:
                world.agenda.after(time, self._give_up, USUAL, pod.key, identity(pod), node.name, since)

    def _give_up(self, key: str, uid: str, node: str, since: int) -> None:
        pod = self._world.pod(key, uid)
        if pod is not None and self._dark.get(node) == since:
            self._world.record.write("PodGivenUp", pod=key, node=node)
            self._disruptions.delete(pod)

    def _return(self, node: Node) -> None:
        del self._dark[node.name]
        ready = Condition(type="Ready", status="True", reason="KubeletReady")
        self._world.change(node, _changed_node(node, _other_taints(node), ready))
        for pod in list(self._world.objects.pods_on(node.name).values()):
            key, uid = pod.key, identity(pod)
            if pod.is_terminating:
                self._leave(key, uid)
            elif pod.status.phase != "Running":
                self._start(key, uid)


def _other_taints(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.spec.taints if taint.key != UNREACHABLE)


def _changed_node(node: Node, taints: tuple[Taint, ...], ready: Condition) -> Node:
    others = tuple(c for c in node.status.conditions if c.type != "Ready")
    return node.model_copy(
        update={
            "spec": node.spec.model_copy(update={"taints": taints}),
            "status": node.status.model_copy(update={"conditions": (*others, ready)}),
        }
    )


def _tolerated(pod: Pod, usual: int) -> int | None:
    """Return how long a pod stays on a silent node; None for ever."""

    def meant(item: Toleration) -> bool:
        return item.key in ("", UNREACHABLE) and item.effect in ("", "NoExecute")

    found = [item for item in pod.spec.tolerations if meant(item)]
    if not found:
        return usual
    times = [item.toleration_seconds for item in found if item.toleration_seconds is not None]
    return max(min(times), 0) * _SECOND if times else None
