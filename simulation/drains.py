"""Draining a node: cordon it, then evict its pods, again and again where a budget refuses.

Source: kubectl drain.
"""

from ..framework.events.changes import identity
from ..models.daemons import is_daemon
from .agenda import USUAL
from .disruptions import Disruptions, EvictionResponse
from .world import World


class Drains:
    """Drains under way.

    Parameters
    ----------
    world : World
    disruptions : Disruptions
    """

    def __init__(self, world: World, disruptions: Disruptions) -> None:
        self._world = world
        self._disruptions = disruptions

    def cordon(self, name: str, *, on: bool) -> None:
        """Make a node unschedulable, or schedulable again."""
        node = self._world.node(name)
        if node is None:
            self._world.record.write("Skipped", what=f"cordon {name}: there is no such node")
        elif node.spec.unschedulable != on:
            spec = node.spec.model_copy(update={"unschedulable": on})
            self._world.change(node, node.model_copy(update={"spec": spec}))

    def drain(self, name: str) -> None:
        """Cordon a node and start to evict its pods; those of DaemonSets stay."""
        self.cordon(name, on=True)
        for pod in list(self._world.objects.pods_on(name).values()):
            if not is_daemon(pod):
                self._evict(pod.key, identity(pod), name)

    def _evict(self, key: str, uid: str, name: str) -> None:
        pod, node = self._world.pod(key, uid), self._world.node(name)
        if pod is None or pod.is_terminating or node is None or not node.spec.unschedulable:
            return
        answer = self._disruptions.evict(pod)
        if answer is EvictionResponse.OK:
            self._world.record.evictions += 1
            self._world.record.write("PodEvicted", pod=key, node=name, by="drain", violates=False)
        else:
            self._world.record.write("EvictionRefused", pod=key, by="drain", code=answer.value)
            self._world.agenda.after(self._world.pace.retry, self._evict, USUAL, key, uid, name)
