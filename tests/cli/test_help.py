"""Help, versions and completion are instant and say what is true."""

import re
import subprocess
import sys
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest
from click.testing import CliRunner

import kubestow
from kubestow.cli import main
from kubestow.commands.group import BAD_INPUT, BUG, DONE, INCOMPLETE, INTERRUPTED, UNREAD
from kubestow.instances import catalogue, scenarios
from kubestow.instances.dump import DUMP, DUMP_TO_FILE, resource
from kubestow.models.kinds import KINDS


def run(*arguments: str, **environment: str) -> str:
    result = CliRunner().invoke(main, arguments, env=environment)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_help_costs_less_than_the_blink_of_an_eye():
    """Processor time, which a busy machine does not lengthen as it does the clock's."""
    before = getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "kubestow", "--help"], check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.4


def test_help_lists_the_commands_and_how_to_complete_them():
    text = run("--help")
    assert all(f"  {name} " in text for name in main.commands)
    assert "_KUBESTOW_COMPLETE=bash_source kubestow" in text


@pytest.mark.parametrize("command", sorted(main.commands))
def test_every_command_explains_every_option(command):
    for parameter in main.commands[command].params:
        if parameter.param_type_name == "option" and parameter.name not in ("scheduler", "output"):
            assert parameter.help, f"{command} {parameter.opts} has no help"
    assert main.commands[command].help


def test_help_has_every_exit_code():
    text = run("--help")
    told = {int(code) for code in re.findall(r"^ +(\d+) +", text.partition("Exit codes:")[2], re.MULTILINE)}
    assert told == {DONE, INCOMPLETE, BAD_INPUT, BUG, INTERRUPTED, UNREAD}


def test_versions():
    assert run("--version") == f"kubestow, version {kubestow.__version__}\n"
    assert run("version").startswith(f"kubestow {kubestow.__version__} (ortools 9.15.")


def test_the_same_command_from_a_checkout():
    script = f"{kubestow.__path__[0]}/cli.py"
    answer = subprocess.run([sys.executable, script, "--version"], check=True, capture_output=True, text=True)
    assert answer.stdout == run("--version")


def test_bundled_names_and_files_are_completed():
    words = {"COMP_WORDS": "kubestow solve guard-t", "COMP_CWORD": "2"}
    result = CliRunner().invoke(
        main, [], env={"_KUBESTOW_COMPLETE": "bash_complete", **words}, prog_name="kubestow"
    )
    assert result.stdout.split() == ["plain,guard-training-job", "plain,guard-two-needed", "file,guard-t"]


@pytest.mark.parametrize(
    "words, offered",
    [
        pytest.param(
            "explain zone-spread-d",
            ["plain,zone-spread-dead-end", "file,zone-spread-d"],
            id="first an instance",
        ),
        pytest.param(
            "solve --kube-version 1.", ["plain,1.34", "plain,1.36", "plain,1.37"], id="every release"
        ),
        pytest.param("generate vol", ["plain,volumes"], id="a family of rounds"),
        pytest.param(
            "generate spread --set m", ["plain,max_skew=2", "plain,min_domains=0.3"], id="its knobs"
        ),
        pytest.param("simulate --kube-version 1.37", ["plain,1.37"], id="a release that is spelled out"),
        pytest.param(
            "compare --against 1.", ["plain,1.34", "plain,1.37"], id="another release than the usual one"
        ),
        pytest.param(
            "compare --kube-version 1.34 --against 1.",
            ["plain,1.36", "plain,1.37"],
            id="another release than the chosen one",
        ),
        pytest.param(
            "explain zone-spread-dead-end shop/web-1",
            ["plain,shop/web-1"],
            id="then a pod that waits in it",
        ),
        pytest.param(
            "explain -n shop zone-spread-dead-end web-1", ["plain,web-1"], id="by name in a namespace"
        ),
        pytest.param("explain -n batch zone-spread-dead-end web-1", [], id="none in another one"),
        pytest.param("explain no-such-file.yaml w", [], id="none where it cannot be read"),
        pytest.param("simulate hour-o", ["plain,hour-of-arrivals", "file,hour-o"], id="scenarios"),
    ],
)
def test_what_is_completed(words, offered):
    environment = {
        "_KUBESTOW_COMPLETE": "bash_complete",
        "COMP_WORDS": f"kubestow {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    result = CliRunner().invoke(main, [], env=environment, prog_name="kubestow")
    assert result.stdout.split() == offered


def test_instances_are_listed_with_their_titles():
    text = run("instances", COLUMNS="200")
    assert all(name in text and catalogue.describe(name).title in text for name in catalogue.names())


def test_an_instance_tells_its_story():
    text = run("instances", "guard-training-job", COLUMNS="200")
    entry = catalogue.describe("guard-training-job")
    assert entry.title in text
    assert " ".join(entry.story.split()) in " ".join(text.split())
    assert f"source: {entry.source}" in text


def test_an_instance_is_a_file():
    assert run("instances", "guard-service", "--path").strip() == str(catalogue.path("guard-service"))
    assert len(run("instances", "--path").split()) == len(catalogue.names()) + len(scenarios.NAMES)


WITH_A_CLUSTER = ["solve", "compare", "trace", "explain", "study", "simulate"]


@pytest.mark.parametrize("command", WITH_A_CLUSTER)
def test_commands_that_read_a_cluster_say_how_to_dump_one(command):
    assert f"  {DUMP} " in run(command, "--help")


def test_help_has_all_commands_of_a_dump():
    text = run("--help")
    assert all(f"  {line}\n" in text for line in DUMP_TO_FILE)


def test_a_dump_has_every_kind_that_is_read():
    resources = ",".join(DUMP_TO_FILE)
    made_by_hand = {"KubeSchedulerConfiguration", "SnapshotInfo", "DeviceTaintRule"}
    assert all(resource(kind) in resources for kind in set(KINDS) - made_by_hand)


ROOT = Path(kubestow.__path__[0])
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_has_another_way_to_dump_a_cluster(page):
    shown = re.findall(r"^ +(kubectl get (?!pod ).*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert shown in ([], list(DUMP_TO_FILE))
    assert bool(shown) == (page.name in ("README.md", "input.md"))
