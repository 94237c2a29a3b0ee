"""One place turns errors into exit codes; each row is one way to fail."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from kubestow.cli import Cli, main
from kubestow.models.errors import InputError, InternalError, KubestowError


def failing(error: BaseException) -> Cli:
    group = Cli()

    @group.command()
    def run() -> None:
        click.echo("half an answer")
        raise error

    return group


@pytest.mark.parametrize(
    "error, code, line",
    [
        pytest.param(
            KubestowError("no such thing"), 2, "kubestow: error: no such thing", id="what the user can cause"
        ),
        pytest.param(
            InputError("a.yaml", "Pod default/p", "spec.priority", "'x' is not a number"),
            2,
            "kubestow: error: a.yaml: Pod default/p: spec.priority: 'x' is not a number",
            id="a fault in the input names file, object and field",
        ),
        pytest.param(KeyboardInterrupt(), 130, "kubestow: interrupted", id="Ctrl-C"),
        pytest.param(click.Abort(), 130, "kubestow: interrupted", id="Ctrl-C as click sees it"),
    ],
)
def test_expected_failures_are_one_line(error, code, line):
    result = CliRunner().invoke(failing(error), ["run"])
    assert result.exit_code == code
    assert result.stderr == line + "\n"


def test_a_bug_keeps_its_traceback():
    result = CliRunner().invoke(failing(ZeroDivisionError("by zero")), ["run"])
    assert result.exit_code == 70
    assert "Traceback" in result.stderr
    assert "ZeroDivisionError: by zero" in result.stderr
    assert result.stderr.endswith("kubestow: this is a bug in kubestow, not in your input\n")


def test_a_bug_leaves_its_dump(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = CliRunner().invoke(failing(InternalError("the bound is wrong", {"tier": "fallback"})), ["run"])
    assert result.exit_code == 70
    [dump] = tmp_path.iterdir()
    assert str(dump) in result.stderr
    assert json.loads(Path(dump).read_text()) == {"tier": "fallback"}


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["solve", "--no-such-option"], "No such option"),
        (["no-such-command"], "No such command"),
        (["solve", "--prefer", "everything"], "'everything' is not one of"),
        (["solve", "--now", "yesterday"], "'yesterday' is not a time such as 2026-05-04T08:00:00Z"),
        (["compare", "--fail-on-regression", "no-such-file.json"], "does not exist"),
        (["instances", "guard-servise"], "did you mean 'guard-service'?"),
        (["explain", "web-5"], "what is needed is one INSTANCE and one POD, in this order"),
        (["explain", "zone-spread-dead-end", "web-55"], "no pod 'web-55'; did you mean web-5?"),
    ],
)
def test_bad_usage_is_2_and_writes_nothing(arguments, words):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_a_reader_that_has_seen_enough_is_no_error():
    command = [sys.executable, "-m", "kubestow", "instances", "-o", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""
