"""What building a model costs: seconds and memory for N nodes and C classes.

    python benchmarks/encoding.py --nodes 1000 --classes 200

The round is a generated one: Deployments with zone and hostname spreading, three priorities, half the
capacity in use by evictable pods under budgets.  Each size runs in a process of its own, so that its peak
memory is its own.
"""

import argparse
import json
import resource
import subprocess
import sys
import time


def measure(nodes: int, classes: int) -> dict[str, float | int]:
    """Build one model and return what it cost; peak memory counts the whole process, interpreter and all."""
    import ortools.sat.python.cp_model  # noqa: F401, its import is no part of the cost

    from kubestow.encoders import encode
    from kubestow.encoders.problem import build_problem
    from kubestow.framework.cluster import Cluster
    from kubestow.instances.generated import deployments
    from kubestow.instances.manifests import snapshot_of

    snapshot = snapshot_of(deployments(nodes, seed=0, apps=classes))
    cluster = Cluster(snapshot)
    started, used = time.perf_counter(), time.process_time()
    problem = build_problem(cluster)
    model = encode(problem).model
    return {
        "nodes": nodes,
        "pods": len(cluster.pending),
        "classes": len(problem.classes),
        "victimClasses": len(problem.victims),
        "variables": len(model.proto.variables),
        "constraints": len(model.proto.constraints),
        "seconds": round(time.perf_counter() - started, 2),
        "cpuSeconds": round(time.process_time() - used, 2),
        "peakMiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def measure_apart(nodes: int, classes: int) -> dict[str, float | int]:
    """Measure in a process of its own."""
    command = [sys.executable, __file__, "--nodes", str(nodes), "--classes", str(classes)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    measured: dict[str, float | int] = json.loads(answer.stdout)
    return measured


def main() -> None:
    parser = argparse.ArgumentParser(description="What building a model costs.")
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--classes", type=int, default=200)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.nodes, arguments.classes)))


if __name__ == "__main__":
    main()
