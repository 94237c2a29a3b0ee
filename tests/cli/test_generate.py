"""`kubestow generate`: what is printed, written and refused."""

import gzip
import json
import os
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from kubestow.cli import main
from kubestow.instances.generators.registry import FAMILIES, generate


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["generate", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


def test_families_are_listed():
    listed = run().stdout
    assert all(f"\n  {name} " in listed for name in FAMILIES)
    assert run("--list").stdout == listed


def test_knobs_of_a_family_are_listed():
    listed = run("devices", "--list").stdout
    assert all(f"\n  {knob.name} " in listed for knob in FAMILIES["devices"].knobs)
    assert "whole, shared, partitioned" in listed


def test_yaml_is_printed_a_document_an_object():
    printed = run("spread", "--seed", 2, "--nodes", 4, "--set", "in-use=0").stdout
    assert list(yaml.safe_load_all(printed)) == generate("spread", 2, nodes=4, in_use=0.0)
    assert "&id" not in printed


def test_json_is_a_list():
    printed = json.loads(run("devices", "--format", "json").stdout)
    assert printed == {"apiVersion": "v1", "kind": "List", "items": generate("devices")}


@pytest.mark.parametrize("name, read", [
    pytest.param("r.yaml", lambda data: list(yaml.safe_load_all(data)), id="YAML by its name"),
    pytest.param("r.yaml.gz", lambda data: list(yaml.safe_load_all(gzip.decompress(data))), id="packed YAML"),
    pytest.param("r.json", lambda data: json.loads(data)["items"], id="JSON by its name"),
    pytest.param("r.json.gz", lambda data: json.loads(gzip.decompress(data))["items"], id="packed JSON"),
    pytest.param("r", lambda data: list(yaml.safe_load_all(data)), id="YAML where the name says nothing"),
])  # fmt: skip
def test_a_file_is_of_the_format_of_its_name(name, read, tmp_path):
    file = tmp_path / name
    assert run("volumes", "-o", file).stdout == ""
    assert read(file.read_bytes()) == generate("volumes")
    assert [entry.name for entry in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["json", "yaml", "table", "wide"])
@pytest.mark.parametrize("more", [(), ("--count", 1)])
def test_a_format_is_no_file(name, more, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = run("spread", "-o", name, *more, code=2).stderr
    assert "-o is a file or folder" in refused
    assert (f"--format {name}" in refused) == (name in ("json", "yaml"))
    assert not list(tmp_path.iterdir())
    run("spread", "-o", f"./{name}", *more)
    assert (tmp_path / name).exists()


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1"])
def test_standard_output_may_be_called_by_its_name(name):
    assert run("one-app", "-o", name).stdout == run("one-app").stdout


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="the system has no names for open files")
def test_a_pipe_that_is_named_by_its_number_is_written():
    """As a shell's process substitution names it, >(gzip > round.gz)."""
    reading, writing = os.pipe()
    assert run("one-app", "-o", f"/dev/fd/{writing}").stdout == ""
    os.close(writing)
    with os.fdopen(reading) as pipe:
        assert pipe.read() == run("one-app").stdout


def test_a_count_is_a_file_for_each_seed(tmp_path):
    folder = tmp_path / "new" / "rounds"
    printed = run("spread", "--seed", 5, "--count", 2, "-o", folder, "--format", "json").stdout
    files = [folder / "spread-5.json", folder / "spread-6.json"]
    assert printed.split() == [str(file) for file in files]
    assert sorted(folder.iterdir()) == files
    assert json.loads(files[1].read_text())["items"] == generate("spread", 6)


def test_files_that_are_there_are_written_anew_with_force_only(tmp_path):
    words = ("spread", "--count", 1, "-o", tmp_path)
    run(*words)
    file = tmp_path / "spread-0.yaml"
    first = file.read_text()
    refused = run(*words, "--nodes", 3, code=2)
    assert f"{tmp_path}: has spread-0.yaml already; --force writes it anew" in refused.stderr
    assert file.read_text() == first
    run(*words, "--nodes", 3, "--force")
    assert file.read_text() != first


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "notes.txt").touch()
    refused = run("spread", "--count", 1, "-o", tmp_path, "--force", code=2)
    assert "has notes.txt, which is none of the files to be written" in refused.stderr
    assert [entry.name for entry in tmp_path.iterdir()] == ["notes.txt"]


REFUSED = {
    "an unknown family": (("sprea",), "there is no family 'sprea'"),
    "an unknown knob": (("spread", "--set", "x=1"), "spread has no knob 'x'"),
    "a knob without a value": (("spread", "--set", "density"), "what is needed is KNOB=VALUE"),
    "a value out of range": (("spread", "--set", "density=2"), "density=2.0: the value must be a number"),
    "a value of another type": (("spread", "--nodes", "many"), "nodes=many: the value must be a whole"),
    "a seed below zero": (("spread", "--seed", "-1"), "-1 is not in the range"),
    "a count without a folder": (("spread", "--count", "2"), "--count takes a folder: -o DIR"),
    "knobs without a family": (("--nodes", "3"), "--nodes goes with a FAMILY"),
    "a seed without a family": (("--seed", "3"), "--seed goes with a FAMILY"),
    "a format without a family": (("--list", "--format", "json"), "--format goes with a FAMILY"),
    "a file for a list": (("spread", "--list", "-o", "x"), "-o does not go with --list"),
    "a seed of a list": (("spread", "--list", "--seed", "0"), "--seed does not go with --list"),
    "one knob by two options": (("spread", "--nodes", "3", "--set", "nodes=5"), "nodes is given twice"),
    "one knob twice": (("spread", "--set", "in_use=0", "--set", "in-use=1"), "in_use is given twice"),
    "force for one file": (("spread", "--force", "-o", "x"), "--force goes with --count"),
    "a folder that is a file": (("spread", "--count", "1", "-o", __file__), "cannot be a folder for files"),
}  # fmt: skip


@pytest.mark.parametrize("arguments, words", REFUSED.values(), ids=REFUSED)
def test_bad_usage_is_one_line(arguments, words):
    error = run(*arguments, code=2).stderr
    assert words in error
    assert len(error.splitlines()) == 1
