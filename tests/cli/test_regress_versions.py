"""Two versions of kubestow side by side, the other one really installed: in an environment of its own."""

import json
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod
from support.paths import ROOT

from kubestow import __version__
from kubestow.cli import main

BEFORE = """
import sys

if sys.argv[1:] == ["--version"]:
    print("kubestow, version 0.0.9")
"""
"""A kubestow that solves nothing, so that whatever this one does takes longer."""


def installed(folder, package):
    """Make an environment in which `package` is installed, with what kubestow depends on; its interpreter."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    [packages] = folder.glob("lib/python*/site-packages")
    shutil.copytree(package, packages / "kubestow")
    # the packages alone: lines of .pth files in there, such as that of an editable kubestow, are not followed
    (packages / "depends.pth").write_text(sysconfig.get_path("purelib"))
    return folder / "bin/python"


@pytest.fixture
def suite(tmp_path):
    file = tmp_path / "round.yaml"
    file.write_text(manifest(cluster(node("n", cpu="2"), pod("p").req(cpu="1").times(3))))
    made = CliRunner().invoke(main, ["regress", "init", f"{tmp_path}/rounds", f"{file}", "--workers", "1"])
    assert made.exit_code == 0, made.output
    return tmp_path / "rounds"


def checked(suite, other, ratio):
    options = ["--against", other, "--max-ratio", ratio, "--repeats", 1, "-o", "json", "-q"]
    result = CliRunner().invoke(main, ["regress", "check", *map(str, [suite, *options])])
    return result, json.loads(result.stdout)["timing"]


def test_a_time_that_has_grown_since_an_installed_version_fails_the_check(suite, tmp_path):
    (tmp_path / "before").mkdir()
    (tmp_path / "before/__init__.py").touch()
    (tmp_path / "before/__main__.py").write_text(BEFORE)
    result, timing = checked(suite, installed(tmp_path / "env", tmp_path / "before"), 1.25)
    assert result.exit_code == 1
    assert result.stderr.endswith("does not pass: slower than 1.25 times: ../round.yaml, all together\n")
    assert (timing["version"], timing["otherVersion"]) == (__version__, "0.0.9")
    [row, total] = timing["instances"]
    assert row["ratio"] > 1.25
    assert row["error"] is None
    assert total["instance"] is None


def earlier(folder, commits):
    """Write the package as it was so many commits ago."""
    git = ["git", "-C", str(ROOT)]
    asked = [*git, "rev-list", "--first-parent", "-n", str(commits), "HEAD"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    history = found.stdout.split()
    if found.returncode != 0 or len(history) < commits:
        pytest.skip(f"there is no history of {commits} commits to take an earlier version from")
    archive = subprocess.run([*git, "archive", history[-1]], capture_output=True, check=True)
    folder.mkdir()
    subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
    version = folder / "__init__.py"
    version.write_text(version.read_text().replace(f'"{__version__}"', '"0.0.9"'))
    return folder


@pytest.mark.slow
def test_an_earlier_version_solves_the_same_round_and_is_timed(suite, tmp_path):
    """How much the two differ is the machine's affair, but not a hundred times."""
    python = installed(tmp_path / "env", earlier(tmp_path / "before", 20))
    result, timing = checked(suite, python, 100)
    assert result.exit_code == 0, result.output
    assert timing["otherVersion"] == "0.0.9"
    assert [(row["error"], row["otherSeconds"] > 0) for row in timing["instances"]] == [(None, True)] * 2
    assert timing["slower"] == []


def test_an_environment_without_kubestow_is_told(suite, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "env"], check=True)
    python = Path(tmp_path / "env/bin/python")
    result = CliRunner().invoke(main, ["regress", "check", str(suite), "--against", str(python)])
    assert result.exit_code == 2
    assert f"--against: {python} is neither a Python that has kubestow installed" in result.stderr
