"""Ctrl-C and SIGTERM in every phase of a command, in processes that are stopped at a known step."""

import json
import subprocess
import sys

import pytest

from kubestow.instances.generated import packing

# Each run is a fork of one process that has loaded everything. The step that is named sends the signal.
SCRIPT = """
import json, os, signal, sys, tempfile, threading, time
from kubestow.cli import main
from kubestow.reports.progress import ProgressReport
from kubestow.solver.api import load_solver

load_solver()

def run(command, file, phase, number):
    sent = []

    def watch(self, name, done=0, total=0):
        if name.startswith(phase) and not sent:
            sent.append(name)
            # Any thread may get what is sent to the process, and get to it when the step is over.
            for name in number.split():
                signal.pthread_kill(threading.main_thread().ident, getattr(signal, name))
                time.sleep(0.05)  # two that come at once are one

    ProgressReport.watch = watch
    try:
        main([command, file, "-o", "json", "--workers", "1", "--time-limit", "20"])
    except SystemExit as end:
        sys.stdout.flush()
        return end.code

def apart(*row):
    files = [tempfile.TemporaryFile() for _ in "ab"]
    child = os.fork()
    if not child:
        for number, file in enumerate(files, 1):
            os.dup2(file.fileno(), number)
        os._exit(run(*row))
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    texts = []
    for file in files:
        file.seek(0)
        texts.append(file.read().decode())
    return code, *texts

for row in json.loads(sys.argv[1]):
    print(json.dumps(apart(*row)), flush=True)
"""

NO_PLAN = "kubestow: interrupted before a plan was found\n"
TWICE = "kubestow: interrupted twice; the plan that was found is not printed, as it was not replayed\n"
BEST = "kubestow: interrupted; this was the best plan so far\n"

ROWS = {
    "while a file is read": ("solve", "reading", "SIGINT", NO_PLAN),
    "while pods are indexed": ("solve", "indexing", "SIGINT", NO_PLAN),
    "while pods are classified": ("compare", "classifying", "SIGINT", NO_PLAN),
    "while greedy runs": ("solve", "greedy", "SIGINT", NO_PLAN),
    "while greedy runs, by SIGTERM": ("compare", "greedy", "SIGTERM", NO_PLAN),
    "while classes are found": ("solve", "finding classes", "SIGINT", BEST),
    "while the model is built": ("solve", "building the model", "SIGINT", BEST),
    "while the model is built, by SIGTERM": ("solve", "building the model", "SIGTERM", BEST),
    "while a plan is replayed": ("solve", "replaying", "SIGINT", BEST),
    "twice while a plan is replayed": ("solve", "replaying", "SIGINT SIGINT", TWICE),
    "while greedy's plan is replayed, before the search": ("compare", "replaying", "SIGTERM", BEST),
}


@pytest.fixture(scope="module")
def ends(tmp_path_factory):
    """Exit code, stdout and stderr of every row."""
    file = tmp_path_factory.mktemp("interrupts") / "round.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": packing(4, 4, 2, 1.0, 1)}))
    rows = [(command, str(file), phase, number) for command, phase, number, _ in ROWS.values()]
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(rows)], capture_output=True, text=True, check=False
    )
    assert not run.stderr
    return dict(zip(ROWS, map(json.loads, run.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("row", ROWS)
def test_an_interrupt_leaves_what_there_is_and_one_line(row, ends):
    command, _, _, line = ROWS[row]
    code, stdout, stderr = ends[row]
    assert (code, stderr) == (130, line)
    if line in (NO_PLAN, TWICE):
        assert stdout == ""
        return
    document = json.loads(stdout)
    plan = document if command == "solve" else document["optimal"]
    assert plan["stats"]["interrupted"]
    assert plan["stats"]["verified"]
    assert plan["bindings"]
