"""Every example in the help of a command is run."""

import json
import re
import shlex
import shutil
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.applying import cluster_of
from support.builders import cluster, group, manifest, pod
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
    copied = pod("web", namespace="shop").req(cpu="1")
    (folder / "web.yaml").write_text(manifest(cluster(copied)))
    gang = cluster(copied.member("g"), group("g", namespace="shop", gang=2))
    (folder / "gang.yaml").write_text(manifest(gang))
    for file in ("nodes.csv", "pods.csv"):
        (folder / file).write_text((DATA / "openb" / file).read_text())
    (folder / "tomorrow.yaml").write_text(
        "{duration: 1m, events: [{at: 30s, scale: Job shop/none, replicas: 0}]}"
    )
    (folder / "cases.jsonl").write_text(CASE + "\n")
    (folder / "script.yaml").write_text(SCRIPT)
    # a dump: its objects have uids, as an API server gives them
    documents, _ = cluster_of((folder / "cluster.yaml").read_text(), folder)
    (folder / "cluster.yaml").write_text("\n".join(map(json.dumps, documents)))
    (folder / "study.yaml").write_text("instances: [tuesday.yaml]")
    (folder / "costs.yaml").write_text("costs: {addNode: 3}")
    spare = {
        "kind": "Node",
        "metadata": {"name": "spare"},
        "status": {"allocatable": {"cpu": "9", "pods": "9"}},
    }
    (folder / "groups.yaml").write_text(json.dumps({"apiVersion": "v1", **spare}))
    for file in ("instance_types.json",):
        (folder / file).write_text((DATA / file).read_text())
    (folder / "offers.yaml").write_text("nodeGroups: [{name: n, template: {allocatable: {cpu: '8'}}}]")
    (folder / "spare.yaml").write_text("changes: [{zoneDown: a}, {addNodes: like:b-1}]")
    before = CliRunner().invoke(main, ["compare", str(folder / "cluster.yaml"), "-o", "json"])
    assert before.exit_code == 0, before.output
    (folder / "before.json").write_text(before.stdout)
    made = CliRunner().invoke(main, ["regress", "init", str(folder / "rounds"), "guard-service"])
    assert made.exit_code == 0, made.output
    log = str(folder / "events.jsonl")
    for file, words in (
        ("plan.json", ["solve", str(folder / "cluster.yaml")]),
        ("comparison.json", ["compare", str(folder / "cluster.yaml")]),
        ("why.json", ["explain", "guard-service", "promo-0", "--why"]),
        ("simulation.json", ["simulate", "--log", log]),
        ("study.json", ["study", str(folder / "tuesday.yaml")]),
        ("session.json", ["study", str(folder / "study.yaml"), "--into", str(folder / "results")]),
    ):
        made = CliRunner().invoke(main, [*words, "-o", "json"])
        assert made.exit_code == 0, made.output
        (folder / file).write_text(made.stdout)
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


# These work on files of their own formats, of which nothing is bundled.
ON_FILES = {"apply-plan", "check", "hints", "queue", "report", "study-report"}


@pytest.mark.parametrize("command", sorted(set(main.commands) - {"version"} - ON_FILES))
def test_a_newcomer_can_run_the_first_example_without_a_file(command):
    words = shlex.split(next(line for line in examples() if line.startswith(f"kubestow {command}")))
    assert not [word for word in words if "." in word or word == "-"]


@pytest.mark.parametrize("example", examples())
@pytest.mark.slow
def test_the_example_works(example, folder, tmp_path, monkeypatch, request):
    # in a copy: what one example writes is not what another one reads
    monkeypatch.chdir(shutil.copytree(folder, tmp_path / "here"))
    if "--live" in example or "snapshot" in example:
        monkeypatch.setenv("KUBECONFIG", request.getfixturevalue("live"))
    source, _, command = example.partition(" > ")[0].rpartition("|")
    words = shlex.split(command)
    if words[1] == "exporter" and "--once" not in words:
        words.append("--once")  # it would go on for ever
    standard_input = (folder / "cluster.yaml").read_text() if source else None
    if source.startswith("kubestow"):
        standard_input = CliRunner().invoke(main, shlex.split(source)[1:]).stdout
    result = CliRunner().invoke(main, words[1:], input=standard_input)
    assert result.exit_code == 0, result.output
    files = [word for before, word in pairwise(words) if before in ("-o", "--plot") and "." in word]
    assert result.stdout or files
    assert all(Path(file).stat().st_size for file in files)
