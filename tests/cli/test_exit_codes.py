"""One place turns errors into exit codes; each row is one way to fail."""

import gzip
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import kubestow
from kubestow.cli import main
from kubestow.commands.group import Cli
from kubestow.models.errors import InputError, InternalError, KubestowError


def failing(error: BaseException) -> Cli:
    group = Cli()

    @group.command()
    def run() -> None:
        click.echo("half an answer")
        raise error

    return group


def broken_by(cause: BaseException) -> ImportError:
    error = ImportError("initialization failed")
    error.__cause__ = cause
    return error


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
        pytest.param(
            broken_by(KeyboardInterrupt()), 130, "kubestow: interrupted", id="Ctrl-C while a module is loaded"
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
        (["solv"], "Did you mean 'solve'?"),
        (["solve", "--no-header"], "'--no-headers'"),
        (["solve", "-n", "Shop"], "a namespace must be a DNS label"),
        (["snapshot", "-n", "a/../b?x"], "a namespace must be a DNS label"),
        (["solve", "-l", "app=web,"], "'app=web,': the end stands where a label's key is expected"),
        (["explain", "-n", "default", "zone-spread-dead-end", "web-5"], "there is shop/web-5"),
        (["solve", "--prefer", "everything"], "'everything' is not one of"),
        (["solve", "--no-evictions", "--max-evictions", "3"], "--max-evictions 3 do not go together"),
        (["solve", "--max-violations", "-1"], "-1 is not in the range x>=0"),
        (["compare", "--never-evict", "app=web,"], "the end stands where a label's key is expected"),
        (["study", "-", "--never-evict", "Shop:app=web"], "a namespace must be a DNS label"),
        (["solve", "--never-evict", ""], "it is empty: name labels, such as app=db, or a namespace"),
        (["solve", "--now", "yesterday"], "'yesterday' is not a time such as 2026-05-04T08:00:00Z"),
        (["compare", "--fail-on-regression", "no-such-file.json"], "does not exist"),
        (
            ["solve", "--kube-version", "1.35"],
            "--kube-version: '1.35' is not a release that is known; known are",
        ),
        (["compare", "--against", "next"], "--against: 'next' is not a release that is known; known are"),
        (["compare", "--against", "1.36"], "--against takes another release than --kube-version 1.36"),
        (
            ["compare", "--against", "1.34", "--fail-on-regression", __file__],
            "--against and --fail-on-regression do not go together",
        ),
        (["study", "-", "-"], "standard input (-) can be read only once (try 'main study --help')"),
        (["solve", "-", "guard-service", "-"], "standard input (-) can be read only once"),
        (["hints", "-", "-"], "standard input (-) can be read only once"),
        (["trace", "--format", "openb", "-", "-"], "standard input (-) can be read only once"),
        (["instances", "guard-servise"], "did you mean 'guard-service'?"),
        (["explain", "web-5"], "what is needed is one INSTANCE and one POD, in this order"),
        (["explain", "zone-spread-dead-end", "web-55"], "no pod 'web-55'; did you mean web-5?"),
    ],
)
def test_bad_usage_is_2_one_line_and_writes_nothing(arguments, words):
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""
    assert result.stderr.startswith("kubestow: error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "arguments, help_of",
    [
        (["--no-such-option"], "kubestow"),
        (["no-such-command"], "kubestow"),
        (["compare", "a", "b"], "kubestow compare"),
        (["compare", "-l"], "kubestow compare"),
        (["solve", "-q", "-v"], "kubestow solve"),
        (["hints"], "kubestow hints"),
        (["simulate", "--scheduler", "best"], "kubestow simulate"),
    ],
)
def test_bad_usage_says_where_the_help_is(arguments, help_of):
    result = CliRunner().invoke(main, arguments, prog_name="kubestow")
    assert result.stderr.endswith(f"(try '{help_of} --help')\n")


def test_no_command_at_all_is_a_request_for_help():
    result = CliRunner().invoke(main, [])
    assert result.exit_code == 0
    assert result.stdout == CliRunner().invoke(main, ["--help"]).stdout


COMMANDS = [
    ["solve"],
    ["solve", "--scheduler", "greedy"],
    ["compare"],
    ["trace"],
    ["study"],
    ["hints"],
    ["queue"],
    ["simulate"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("content", ["", "\n\n"], ids=["nothing", "blank lines"])
def test_an_input_without_content_is_one_line(command, content, tmp_path):
    file = tmp_path / "empty.yaml"
    file.write_text(content)
    for name, text in ((str(file), None), ("-", content)):
        result = CliRunner().invoke(main, [*command, name], input=text)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"kubestow: error: {name}: is empty; what is needed ")
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "command", [*COMMANDS, ["explain"], ["instances"], ["instances", "--path"]], ids=" ".join
)
def test_an_empty_argument_is_bad_usage(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pod.yaml").write_text("{apiVersion: v1, kind: Pod, metadata: {name: p}}")
    pod = ["p"] if command == ["explain"] else []
    result = CliRunner().invoke(main, [*command, "", *pod])
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("kubestow: error: ")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_link_to_nothing_is_one_line(command, tmp_path):
    link = tmp_path / "cluster.yaml"
    link.symlink_to("gone.yaml")
    result = CliRunner().invoke(main, [*command, str(link)])
    assert result.exit_code == 2
    assert result.stdout == ""
    words = "is a link to a file or folder that does not exist"
    assert result.stderr == f"kubestow: error: {link}: {words}\n"


LAUGHS = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9))
GROWING = [
    ("a bomb of aliases", b"a0: &a0 [x]\n" + LAUGHS.encode()),
    ("a bomb of zeros", gzip.compress(bytes(70 * 2**20))),
    ("a bomb of blanks", gzip.compress(b" " * (70 * 2**20))),
    ("lists in lists", b"[" * 100_000),
    ("maps in maps", b"{a: " * 5000 + b"}" * 5000),
    ("indented lists", b"- " * 5000 + b"x"),
    ("half a gzip file", gzip.compress(bytes(1000))[:20]),
    ("what is no text", bytes(range(256))),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("content", [row[1] for row in GROWING], ids=[row[0] for row in GROWING])
@pytest.mark.slow
def test_an_input_that_grows_without_end_is_one_line(command, content, tmp_path):
    file = tmp_path / "f.yaml"
    file.write_bytes(content)
    for name, stream in ((str(file), None), ("-", content)):
        result = CliRunner().invoke(main, [*command, name], input=stream)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith(f"kubestow: error: {name}: ")
        assert result.stderr.count("\n") == 1
        assert len(result.stderr) < 400


EXPANDING = [["solve"], ["compare"], ["trace"], ["study"], ["explain"]]


@pytest.mark.parametrize("command", EXPANDING, ids=" ".join)
def test_a_billion_replicas_are_one_line(command):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"replicas": 10**9, "selector": {"matchLabels": {"a": "b"}}, "template": template},
    }
    pod = ["d-0"] if command == ["explain"] else []
    result = CliRunner().invoke(main, [*command, "--expand", "-", *pod], input=json.dumps(deployment))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "kubestow: error: -: Deployment default/d: spec.replicas: "
        "would bring --expand to 1000000000 pods; 150000 is the most\n"
    )


def run(*arguments, **options):
    command = [sys.executable, "-m", "kubestow", *arguments]
    return subprocess.run(command, check=False, text=True, stderr=subprocess.PIPE, timeout=60, **options)


FULL = Path("/dev/full")
NO_SPACE = "kubestow: error: output: No space left on device\n"


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["version"], ["instances"], ["snapshot", "zone-spread-dead-end"]]
)
def test_an_output_that_takes_nothing_is_one_line(arguments):
    with FULL.open("w") as full:
        result = run(*arguments, stdout=full)
    assert (result.returncode, result.stderr) == (2, NO_SPACE)


@pytest.mark.skipif(os.name != "posix", reason="the size of files is limited by the system")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_an_output_that_takes_a_part_is_one_line(tmp_path, unbuffered):
    import resource

    file = tmp_path / "instances.json"
    with file.open("w") as little:
        result = run(
            "instances",
            "-o",
            "json",
            stdout=little,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000)),
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    assert file.stat().st_size == 1000
    assert (result.returncode, result.stderr) == (2, "kubestow: error: output: File too large\n")


@pytest.mark.skipif(os.name != "posix", reason="a shell closes the output")
def test_an_output_that_is_closed_is_one_line():
    result = run("instances", preexec_fn=lambda: os.close(1))
    assert (result.returncode, result.stderr) == (2, "kubestow: error: output: is closed\n")


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full here")
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_words_that_nobody_hears_do_not_change_the_exit_code(unbuffered):
    """Python flushes what is buffered on its way out, and takes 120 where that fails."""
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with FULL.open("w") as full:
        command = [sys.executable, "-m", "kubestow", "no-such-command"]
        ended = subprocess.run(command, check=False, stderr=full, timeout=60, env=environment)
    assert ended.returncode == 2


@pytest.mark.parametrize("arguments", [["instances"], ["instances", "-o", "json"], ["--help"]])
def test_a_reader_that_has_seen_enough_is_no_error(arguments):
    command = [sys.executable, "-m", "kubestow", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.wait(60) == 141
        assert process.stderr.read() == b""


IMPATIENT = """
import atexit, os, signal, sys

number = getattr(signal, sys.argv.pop(1))

def interrupt():
    for _ in range(3):
        os.kill(os.getpid(), number)

class Last:
    def __del__(self, kill=os.kill, me=os.getpid(), number=number):
        kill(me, number)  # when Python has taken its own handlers down

signal.signal(signal.SIGINT, signal.default_int_handler)
atexit.register(interrupt)
sys.last_of_all = Last()
from kubestow.entry import main
main()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent from within")
@pytest.mark.parametrize(
    "arguments, code, number",
    [
        pytest.param(["instances", "-o", "json"], 0, "SIGINT", id="after an answer"),
        pytest.param(["instances", "-o", "json"], 0, "SIGTERM", id="after an answer, by SIGTERM"),
        pytest.param(["no-such-command"], 2, "SIGINT", id="after words about bad usage"),
        pytest.param(["no-such-command"], 2, "SIGTERM", id="after words about bad usage, by SIGTERM"),
        pytest.param(["study", "no-such-file", "-o", "csv"], 2, "SIGINT", id="after words about bad input"),
        pytest.param(["--help"], 0, "SIGINT", id="after the help"),
    ],
)
def test_a_signal_while_the_process_ends_changes_nothing(arguments, code, number):
    quiet, impatient = (
        subprocess.run(
            [sys.executable, *program, *arguments], check=False, capture_output=True, text=True, timeout=60
        )
        for program in (["-m", "kubestow"], ["-c", IMPATIENT, number])
    )
    assert quiet.returncode == code
    # what a program is called in its own words is how it was started
    told = [each.stderr.replace("'-c ", "'python -m kubestow ") for each in (quiet, impatient)]
    assert told[0] == told[1]
    assert impatient.stdout.splitlines()[1:] == quiet.stdout.splitlines()[1:]
    assert impatient.returncode == code


def test_a_command_line_within_a_program_leaves_its_ctrl_c_alone():
    before = signal.getsignal(signal.SIGINT)
    assert CliRunner().invoke(main, ["instances"]).exit_code == 0
    assert signal.getsignal(signal.SIGINT) == before


EARLY = """
import os, runpy, signal, sys

kind, number = sys.argv[1:3]
sys.argv[1:] = ["instances"]

class Finder:
    def find_spec(self, name, path, target=None):
        if name == "kubestow.commands.check":
            os.kill(os.getpid(), getattr(signal, number))

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Finder())
if kind == "module":
    runpy.run_module("kubestow", run_name="__main__", alter_sys=True)
else:
    import kubestow.entry
    getattr(kubestow.entry, kind)()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent from within")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("kind", ["main", "plugin", "complete_plugin", "module"])
def test_a_signal_while_the_command_line_is_imported_is_one_line(kind, number):
    command = [sys.executable, "-c", EARLY, kind, number]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "kubestow: interrupted\n")


def test_every_script_begins_at_the_entry():
    scripts = tomllib.loads((Path(kubestow.__file__).parent / "pyproject.toml").read_text())["project"][
        "scripts"
    ]
    assert {target.partition(":")[0] for target in scripts.values()} == {"kubestow.entry"}
