"""SchedulingGates: a pod with scheduling gates stays out of the active queue.

Source: kube-scheduler 1.34.1 plugins/schedulinggates.
"""

from ...models.pod import Pod


def gates_message(pod: Pod) -> str:
    """Write why a gated pod waits: PreEnqueue's reason, UnschedulableAndUnresolvable."""
    gates = " ".join(gate.name for gate in pod.spec.scheduling_gates)
    return f"waiting for scheduling gates: [{gates}]"
