"""Which waiting pods are expected on which node, by their status or by a decision that is not written yet.

Source: kube-scheduler 1.34.1 backend/queue/nominator.go.
"""

from ...models.pod import Pod
from ..events.changes import identity


class Nominator:
    """Nominated pods by node."""

    def __init__(self) -> None:
        self._node_of: dict[str, str] = {}
        self._pods: dict[str, dict[str, Pod]] = {}

    def add(self, pod: Pod, node: str | None = None) -> None:
        """Expect a pod on a node.

        Parameters
        ----------
        pod : Pod
        node : str, optional
            The decision of this moment; without it the pod's status counts.
        """
        if self._node_of:
            self.delete(pod)
        wanted = node if node is not None else (pod.status.nominated_node_name or "")
        if wanted and not pod.spec.node_name:
            self._node_of[identity(pod)] = wanted
            self._pods.setdefault(wanted, {})[identity(pod)] = pod

    def update(self, old: Pod | None, new: Pod) -> None:
        """Take a pod's new version; what is only decided here survives an update that says nothing of it."""
        decided: str | None = None
        before = (old.status.nominated_node_name if old is not None else None) or ""
        if not before and not new.status.nominated_node_name:
            decided = self._node_of.get(identity(new))
        if old is not None:
            self.delete(old)
        self.add(new, decided)

    def delete(self, pod: Pod) -> None:
        """Expect a pod nowhere."""
        node = self._node_of.pop(identity(pod), None) if self._node_of else None
        if node is not None:
            pods = self._pods[node]
            del pods[identity(pod)]
            if not pods:
                del self._pods[node]

    def node_of(self, pod: Pod) -> str | None:
        """Return the node on which a pod is expected, or None."""
        return self._node_of.get(identity(pod))

    def pods_on(self, node: str) -> list[Pod]:
        """Return the pods that are expected on a node, in the order in which they were nominated."""
        return list(self._pods.get(node, {}).values())
