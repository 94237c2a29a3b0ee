"""Files beside an answer: checked before the search, and never in its way."""

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod

from kubestow.cli import main

FULL = cluster(node("a", cpu="1"), pod("w").req(cpu="9"))


@pytest.fixture
def instance(tmp_path):
    path = tmp_path / "full.yaml"
    path.write_text(manifest(FULL))
    return str(path)


def run(*words):
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stdout, result.stderr


ASKED = {
    "suggest": (["w"], "--save"),
    "provision": (["--node-groups", "three-sizes"], "--write-changes"),
    "rebalance": (["--goal", "admit", "--frontier"], "--plot"),
}


@pytest.mark.parametrize("command", ASKED)
def test_a_file_that_cannot_be_written_is_told_before_anything_is_searched(command, instance):
    words, option = ASKED[command]
    code, out, err = run(command, instance, *words, option, "/no/such/folder/x.svg", "-v")
    assert (code, out) == (2, "")
    assert err == "kubestow: error: /no/such/folder/x.svg: cannot be written: No such file or directory\n"


@pytest.mark.parametrize("command", ASKED)
def test_a_file_is_not_written_into_a_document_on_standard_output(command, instance):
    words, option = ASKED[command]
    code, out, err = run(command, instance, *words, option, "-", "-o", "json")
    assert (code, out) == (2, "")
    assert f"{option} - and -o json would be in one another's way" in err


def test_that_nothing_helps_is_an_answer_where_it_cannot_be_saved_either(instance, tmp_path):
    file = tmp_path / "least.yaml"
    code, out, err = run("suggest", instance, "w", "--save", str(file), "--costs", never(tmp_path))
    assert code == 0
    assert "nothing in the menu helps" in " ".join(out.split())
    assert f"{file} was not written: there is no suggestion" in " ".join(err.split())
    assert not file.exists()


def never(folder):
    """Return a file of costs in which no step can be taken that would help."""
    path = folder / "costs.yaml"
    path.write_text("costs: {request: never, addNode: never}")
    return str(path)
