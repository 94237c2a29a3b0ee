"""Every example in the help of a command is run."""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.fake_cluster import FakeCluster, kubeconfig, raw_objects, serving
from support.paths import DATA

from kubestow.cli import main
from kubestow.instances import catalogue

DATA = DATA


CASE = json.dumps(
    {
        "id": "a-node-comes",
        "plugin": "NodeName",
        "pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "me"}},
        "old": None,
        "new": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
    }
)
SCRIPT = """\
name: a pod comes and is popped
trace:
- {at: 0, op: event, new: {apiVersion: v1, kind: Pod, metadata: {name: me}}}
- {at: 0.5, op: pop}
"""


def examples() -> list[str]:
    epilogs = [main.epilog, *(command.epilog for command in main.commands.values())]
    lines = [line.strip() for epilog in epilogs if epilog for line in epilog.splitlines()]
    return [line for line in lines if re.match(r"kubestow |kubectl .*\| kubestow ", line)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    for file, instance in (
        ("cluster.yaml", "zone-spread-dead-end"),
        ("monday.yaml", "min-domains-upgrade"),
        ("tuesday.yaml", "guard-service"),
    ):
        (folder / file).write_text(catalogue.path(instance).read_text())
    for file in ("nodes.csv", "pods.csv"):
        (folder / file).write_text((DATA / "openb" / file).read_text())
    (folder / "cases.jsonl").write_text(CASE + "\n")
    (folder / "script.yaml").write_text(SCRIPT)
    (folder / "spare.yaml").write_text("changes: [{zoneDown: a}, {addNodes: like:b-1}]")
    before = CliRunner().invoke(main, ["compare", str(folder / "cluster.yaml"), "-o", "json"])
    assert before.exit_code == 0, before.output
    (folder / "before.json").write_text(before.stdout)
    return folder


@pytest.fixture(scope="module")
def live(folder):
    """What the examples with a live cluster work on."""
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    with serving(FakeCluster(raw_objects(catalogue.path("zone-spread-dead-end")))) as cluster:
        yield kubeconfig(folder, f"http://127.0.0.1:{cluster.port}", context="prod")


def test_there_are_examples_for_every_command_that_takes_an_instance():
    told = {shlex.split(line.split("|")[-1])[1] for line in examples()}
    assert told == set(main.commands) - {"version"}


@pytest.mark.parametrize("command", sorted(set(main.commands) - {"version", "hints", "queue"}))
def test_a_newcomer_can_run_the_first_example_without_a_file(command):
    words = shlex.split(next(line for line in examples() if line.startswith(f"kubestow {command}")))
    assert not [word for word in words if "." in word or word == "-"]


@pytest.mark.parametrize("example", examples())
@pytest.mark.slow
def test_the_example_works(example, folder, monkeypatch, request):
    monkeypatch.chdir(folder)
    if "--live" in example or "snapshot" in example:
        monkeypatch.setenv("KUBECONFIG", request.getfixturevalue("live"))
    source, _, command = example.rpartition("|")
    words = shlex.split(command)
    standard_input = (folder / "cluster.yaml").read_text() if source else None
    result = CliRunner().invoke(main, words[1:], input=standard_input)
    assert result.exit_code == 0, result.output
    assert result.stdout or Path(words[words.index("-o") + 1]).stat().st_size
