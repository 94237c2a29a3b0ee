"""Which copies of a workload go first when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePods).
"""

from .pod import Pod


def who_goes_first(pod: Pod) -> tuple[bool, bool, float]:
    """Return the rank of a surplus pod: unbound ones first, then those that do not run, then the newest."""
    created = pod.metadata.creation_timestamp
    return (
        bool(pod.spec.node_name),
        pod.status.phase in (None, "Running"),
        -created.timestamp() if created is not None else 0.0,
    )


def ordinal_of(pod: Pod) -> int:
    """Return the number of a StatefulSet's pod; -1 where its name has none."""
    last = pod.name.rpartition("-")[2]
    return int(last) if last.isdecimal() else -1
