"""Help, versions and completion are instant and say what is true."""

import resource
import subprocess
import sys

import pytest
from click.testing import CliRunner

import kubestow
from kubestow.cli import main
from kubestow.instances import catalogue, scenarios


def run(*arguments: str, **environment: str) -> str:
    result = CliRunner().invoke(main, arguments, env=environment)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_help_costs_less_than_the_blink_of_an_eye():
    """Processor time, which a busy machine does not lengthen as it does the clock's."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "kubestow", "--help"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
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


def test_instances_are_listed_with_their_titles():
    text = run("instances")
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
