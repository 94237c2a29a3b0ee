"""Ctrl-C during a search: it stops at once, keeps its best solution and says that it was interrupted."""

import json
import subprocess
import sys

import pytest

from kubestow.instances.generated import packing
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.api import SolveOptions, solve_both
from kubestow.solver.search import tier_search as search

# A process of its own: the signal must reach nobody else who runs tests.
SCRIPT = """
import json, os, signal, threading
from kubestow.instances.generated import deployments
from kubestow.instances.manifests import snapshot_of
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions

heard = []

def interrupt(progress):
    if threading.current_thread() is not threading.main_thread() and not heard:
        heard.append(progress)
        os.kill(os.getpid(), signal.SIGINT)

# budgets are broken on nodes that are all different: that stays open
pods = deployments(20, seed=1, apps=12, demand=1.2)
plan = solve(snapshot_of(pods), SolveOptions(time_limit=30, workers=2), interrupt)
print(json.dumps({"heard": len(heard), "status": plan.status, **plan.stats.model_dump()}))
"""


@pytest.mark.slow
def test_the_best_plan_so_far_is_the_answer():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    told = json.loads(run.stdout)
    assert told["heard"] == 1
    assert told["interrupted"]
    assert told["verified"]
    assert told["status"] == "FEASIBLE"


# Pod groups are first placed by a model of their own, of which CP-SAT keeps the signal if it may.
AFTERWARDS = """
import os, signal, time
from kubestow.instances.manifests import snapshot_of
from kubestow.instances.racks import racks
from kubestow.solver.api import solve
from kubestow.solver.options import SolveOptions

plan = solve(snapshot_of(racks(1, racks=2, nodes=2, devices=2, gangs=2)), SolveOptions(workers=1))
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_is_heard_after_a_search_as_well():
    run = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True, check=True)
    assert run.stdout == "heard\n"


TERMINATED = """
import os, signal, sys
from kubestow.cli import main
from kubestow.reports.progress import ProgressReport

heard = []

def end(self, progress):
    if not heard:
        heard.append(progress)
        os.kill(os.getpid(), signal.SIGTERM)

ProgressReport.__call__ = end
signal.signal(signal.SIGINT, {interrupts})
main(["solve", sys.argv[1], "-o", "json", "--workers", "2", "--time-limit", "120"])
"""


@pytest.mark.parametrize(
    "interrupts",
    ["signal.default_int_handler", "signal.SIG_IGN"],
    ids=["in a terminal", "in the background of a shell, which ignores Ctrl-C"],
)
@pytest.mark.slow
def test_sigterm_ends_a_search_with_its_best_plan(interrupts, tmp_path):
    file = tmp_path / "round.json"
    items = packing(nodes=24, pods_per_node=8, priorities=4, utilisation=1.0, seed=1)
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    script = TERMINATED.replace("{interrupts}", interrupts)
    run = subprocess.run(
        [sys.executable, "-c", script, str(file)], capture_output=True, text=True, check=False, timeout=100
    )
    assert run.returncode == 130
    assert run.stderr == "kubestow: interrupted; this was the best plan so far\n"
    assert json.loads(run.stdout)["stats"]["interrupted"] is True


def test_ctrl_c_before_anything_was_searched_leaves_a_plan_no_worse_than_greedys(monkeypatch):
    repair, calls = search.repair, []

    def interrupted_once(*args):
        calls.append(args)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return repair(*args)

    monkeypatch.setattr(search, "repair", interrupted_once)
    optimal, greedy = solve_both(snapshot_of(packing(2, 3, 1, 0.9, 0)), SolveOptions(workers=1))
    assert optimal.stats.interrupted
    assert optimal.vector() == greedy.vector()
    assert optimal.bindings
