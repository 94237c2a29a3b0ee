"""What several hints ask about a pod."""

from ...models.pod import Pod


def held_a_node(pod: Pod) -> bool:
    """Whether a pod was on a node, or was as good as on one since it was nominated."""
    return bool(pod.spec.node_name or pod.status.nominated_node_name)


def claim_of(pod: Pod, volume: str) -> str:
    """Return the name of the claim that is made for a pod's ephemeral volume."""
    return f"{pod.name}-{volume}"
