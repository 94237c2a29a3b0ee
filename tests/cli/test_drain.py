"""`kubestow drain` on the command line: what docs/drain.md shows, documents, names, faults in one line."""

import json
import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod

import kubestow
from kubestow.cli import main
from kubestow.commands import drain as command
from kubestow.commands.live import wants_live
from kubestow.commands.plugin import PLUGIN
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.solver.moves.emptying import Emptying
from kubestow.solver.moves.in_name_order import InNameOrder

PAGE = (Path(kubestow.__path__[0]) / "docs" / "drain.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n\$ (kubestow .*?)\n(.*?)```", PAGE, re.DOTALL)
ORDER = "drain-one-order"


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["drain", *arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.mark.parametrize("command, output", BLOCKS, ids=[command for command, _ in BLOCKS])
def test_the_page_shows_what_is_printed(command, output):
    words = shlex.split(command)[2:]
    assert run(*words, code=0 if "ours:    possible" in output else 1).stdout == output


def test_the_page_shows_a_drain_and_two_proofs():
    assert ["impossible, proven" in output for _, output in BLOCKS] == [False, True, True]


def test_the_document_has_every_step():
    document = json.loads(run(ORDER, "east-1", "west-1", "-o", "json").stdout)
    assert document["verdict"] == "possible"
    assert document["steps"] == [
        {"cordon": "east-1"},
        {"cordon": "west-1"},
        {"mark": "shop/db-1"},
        {"leave": "shop/db-1"},
        {"bind": "shop/db-1-moved", "node": "north-1"},
        {"mark": "shop/db-0"},
        {"leave": "shop/db-0"},
        {"bind": "shop/db-0-moved", "node": "west-2"},
    ]


def test_names_are_the_pods_that_move_in_their_order():
    assert run(ORDER, "east-1", "west-1", "-o", "name").stdout == "pod/db-1\npod/db-0\n"


def test_nodes_go_by_labels():
    assert json.loads(run("drain-budget", "-l", "pool=new", "-o", "json").stdout)["nodes"] == ["new-1"]


def test_both_names_of_the_number_of_nodes_mean_the_same():
    first, second = (
        json.loads(run(ORDER, "--all-nodes", option, "1", "-o", "json").stdout)
        for option in ("--rolling", "--max-unavailable")
    )
    assert first["rolling"] == second["rolling"] == 1
    assert first["steps"] == second["steps"]


def test_a_rolling_drain_has_stages_and_says_who_stays():
    text = run(
        "drain-no-room", "a-1", "--rolling", "1", "--never-move", "app=web", "--leave-unmovable"
    ).stdout
    assert "Stages\n" in text
    assert "it is never to move" in text


@pytest.mark.parametrize(
    "options, words",
    [
        pytest.param([], "what is needed is one INSTANCE, and the nodes after it", id="nothing"),
        pytest.param([ORDER], "what is needed are nodes to drain", id="no node"),
        pytest.param([ORDER, "--all-nodes"], "--all-nodes goes with --rolling K", id="nowhere to go"),
        pytest.param([ORDER, "east-2"], "there is no such node; did you mean", id="no such node"),
        pytest.param([ORDER, "-l", "pool=old"], "no node has these labels", id="no such labels"),
        pytest.param([ORDER, "east-1", "--rolling", "0"], "'--rolling' / '--max-unavailable'", id="none"),
        pytest.param([ORDER, "east-1", "--never-move", ""], "it is empty: name labels", id="no selector"),
    ],
)
def test_a_fault_is_one_line(options, words):
    told = run(*options, code=2).stderr
    assert words in told
    assert told.count("\n") == 1


def test_a_node_with_a_pod_that_may_not_move_is_not_emptied_by_name_either(tmp_path):
    file = tmp_path / "small.yaml"
    file.write_text(manifest(cluster(node("a"), node("b"), pod("bare").on("a"))))
    result = CliRunner().invoke(main, ["drain", str(file), "a", "-o", "json"])
    found = json.loads(result.stdout)["inNameOrder"]
    assert (result.exit_code, found["emptied"], found["blocked"]) == (1, [], 1)


@pytest.mark.parametrize(
    "arguments, verdict",
    [
        pytest.param([ORDER, "east-1", "west-1"], "undecided", id="nothing is decided yet"),
        pytest.param([ORDER, "west-1"], "possible", id="the drain by name is an answer"),
    ],
)
def test_an_interrupt_leaves_what_is_known(arguments, verdict, monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Emptying, "run", interrupt)
    result = run(*arguments, "-o", "json", code=130)
    document = json.loads(result.stdout)
    assert (document["verdict"], document["stats"]["interrupted"]) == (verdict, True)
    assert document["stats"]["verified"] == bool(document["steps"]) == (verdict == "possible")
    assert result.stderr == "kubestow: interrupted; this was the best answer so far\n"
    assert ("interrupted before" in run(*arguments, code=130).stdout) == (verdict == "undecided")


def test_an_interrupt_before_the_drain_by_name_leaves_nothing(monkeypatch):
    def interrupt(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(InNameOrder, "run", interrupt)
    result = run(ORDER, "west-1", code=130)
    assert (result.stdout, result.stderr) == ("", "kubestow: interrupted before a plan was found\n")


def test_nodes_that_come_back_schedulable_though_they_are_cordoned_are_named(tmp_path):
    file = tmp_path / "cluster.yaml"
    nodes = (node("n-1").cordoned(), node("n-2"), node("n-3"))
    file.write_text(manifest(cluster(*nodes, pod("web-0").req(cpu="1").on("n-1").owned())))
    rolling = run(str(file), "n-1", "n-2", "--rolling", "1")
    assert "  1 node is cordoned now and comes back schedulable: n-1\n" in rolling.stdout
    assert {"uncordon": "n-1"} in json.loads(run(str(file), "n-1", "--rolling", "1", "-o", "json").stdout)[
        "steps"
    ]
    together = run(str(file), "n-1", "-o", "json")
    assert json.loads(together.stdout)["uncordoned"] == []


@pytest.mark.parametrize(
    "words, instances, nodes",
    [
        pytest.param(["east-1", "west-1"], (), ["east-1", "west-1"], id="all words are nodes"),
        pytest.param([ORDER, "west-1"], (ORDER,), ["west-1"], id="a bundled instance is one"),
    ],
)
def test_as_a_plugin_words_are_nodes_of_the_cluster(words, instances, nodes, monkeypatch):
    asked = []

    def read(given, choices):
        asked.append((given, choices["live"] or wants_live(given, choices)))
        return [(load_snapshot([catalogue.locate(ORDER)]), 0.0)]

    monkeypatch.setattr(command, "snapshots", read)
    result = CliRunner().invoke(main, ["drain", *words, "-o", "json"], prog_name=PLUGIN)
    assert asked == [(instances, not instances)]
    assert json.loads(result.stdout)["nodes"] == nodes
