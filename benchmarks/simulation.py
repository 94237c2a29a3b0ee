"""How fast the greedy simulation runs, and how that grows.

    python benchmarks/simulation.py NODES PODS CHANGES ...

An hour in which PODS pods arrive on NODES nodes (six templates, half of them spread over three zones, each
pod running twenty minutes on average) while CHANGES times a node is cordoned or uncordoned. Prints simulated
seconds per second of real time.
"""

import sys
import time
from typing import Any

from kubestow.instances.manifests import snapshot_of
from kubestow.models.pod import Pod
from kubestow.models.scenario import SECOND, Arrivals, Cordon, Kind, Scenario, TimedEvent
from kubestow.simulation.engine import Simulation

HOUR = 3600 * SECOND
SIZES = ("500m", "1", "2", "4", "250m", "3")


def node(k: int) -> dict[str, Any]:
    """Write the k-th node."""
    labels = {"kubernetes.io/hostname": f"n{k}", "topology.kubernetes.io/zone": f"z{k % 3}"}
    allocatable = {"cpu": "16", "memory": "64Gi", "pods": "110"}
    meta = {"name": f"n{k}", "labels": labels}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": allocatable}}


def pod(k: int, cpu: str) -> Pod:
    """Make the k-th template."""
    app = {"app": f"app-{k}"}
    spec: dict[str, Any] = {
        "containers": [{"name": "main", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}]
    }
    if k % 2:
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": 1,
                "topologyKey": "topology.kubernetes.io/zone",
                "whenUnsatisfiable": "DoNotSchedule",
                "labelSelector": {"matchLabels": app},
            }
        ]
    raw = {"metadata": {"name": f"p{k}", "labels": app}, "spec": spec, "status": {"phase": "Pending"}}
    return Pod.model_validate(raw)


def scenario(nodes: int, pods: int, changes: int) -> Scenario:
    """Make an hour of arrivals and node changes."""
    kinds = tuple(Kind(pod(k, cpu), 1.0, 1200 * SECOND) for k, cpu in enumerate(SIZES))
    events = [TimedEvent(0, Arrivals(pods / 3600, HOUR, kinds))]
    events += [
        TimedEvent(k * HOUR // changes, Cordon(f"n{k // 2 * 37 % nodes}", on=k % 2 == 0))
        for k in range(changes)
    ]
    snapshot = snapshot_of([node(k) for k in range(nodes)], name="benchmark")
    return Scenario("benchmark", snapshot, HOUR, seed=1, events=tuple(events))


def main() -> None:
    """Run what the arguments ask for."""
    numbers = [int(text) for text in sys.argv[1:]] or [100, 2000, 500]
    for k in range(0, len(numbers), 3):
        nodes, pods, changes = numbers[k : k + 3]
        run = Simulation(scenario(nodes, pods, changes))
        start = time.perf_counter()
        record = run.run()
        wall = time.perf_counter() - start
        print(
            f"{nodes} nodes, {pods} pods, {changes} node events: {wall:.1f} s, "
            f"{3600 / wall:.0f} simulated seconds a second; {len(record.waits)} bound, "
            f"{record.wasted} attempts wasted, indexed anew {run.world.follower.rebuilds} times"
        )


if __name__ == "__main__":
    main()
