"""Ctrl-C during a search: it stops at once, keeps its best solution and says that it was interrupted."""

import json
import subprocess
import sys

# A process of its own: the signal must reach nobody else who runs tests.
SCRIPT = """
import json, os, signal, threading
from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions

heard = []

def interrupt(progress):
    if threading.current_thread() is not threading.main_thread() and not heard:
        heard.append(progress)
        os.kill(os.getpid(), signal.SIGINT)

# two hundred pods that just do not fit: no tier below the first ones is proven for minutes
pods = packing(nodes=24, pods_per_node=8, priorities=4, utilisation=1.0, seed=1)
plan = solve(snapshot_of(pods), SolveOptions(time_limit=120, workers=2), interrupt)
print(json.dumps({"heard": len(heard), "status": plan.status, **plan.stats.model_dump()}))
"""


def test_the_best_plan_so_far_is_the_answer():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["heard"] == 1
    assert told["interrupted"]
    assert told["verified"]
    assert told["status"] == "FEASIBLE"
    assert told["wall_seconds"] < 100
