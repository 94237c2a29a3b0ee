"""`kubestow provision`: what is printed and written, and what is told about input that is none."""

import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node, pod

from kubestow.cli import main

GROUPS = "nodeGroups: [{name: n, price: 2, template: {allocatable: {cpu: '2'}}}]"


@pytest.fixture
def run(tmp_path):
    """Write an instance and groups; return a function that runs the command on them."""
    snapshot = cluster(node("a", cpu="1"), pod("p").req(cpu="1").times(4))
    (tmp_path / "cluster").write_text(manifest(snapshot))
    (tmp_path / "groups").write_text(GROUPS)
    (tmp_path / "broken").write_text("nodeGroups: [{name: n}]")

    def run(*options, groups="groups", code=0):
        arguments = ["provision", f"{tmp_path}/cluster", "--node-groups", f"{tmp_path}/{groups}", *options]
        result = CliRunner().invoke(main, [a.replace("@", f"{tmp_path}/") for a in arguments])
        assert result.exit_code == code, result.output
        return result

    run.folder = tmp_path
    return run


def test_the_purchase_stands_in_tables(run):
    text = run().stdout
    assert "2 nodes for 4: 4 waiting pods placed, 0 left, proven" in text
    assert "n-new-2" in text


def test_the_document_has_tiers_with_bounds(run):
    document = json.loads(run("-o", "json").stdout)
    assert document["purchase"]["price"] == 4
    assert [(tier["name"], tier["bound"], tier["proven"]) for tier in document["tiers"]] == [
        ("scheduled[priority=0]", 4, True),
        ("price", 4, True),
        ("nodes", 2, True),
    ]


def test_the_nodes_that_are_bought_have_names(run):
    assert run("-o", "name").stdout.split() == ["node/n-new-1", "node/n-new-2"]


def test_what_is_written_is_what_what_if_reads(run):
    run("--write-changes", "@buy.yaml")
    arguments = ["what-if", f"{run.folder}/cluster", "--scenario", f"{run.folder}/buy.yaml", "-o", "json"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    [scenario] = json.loads(result.stdout)["scenarios"]
    assert scenario["newNodes"] == ["n-new-1", "n-new-2"]
    assert scenario["after"]["optimal"]["tiers"][0]["value"] == 4


def test_nothing_is_written_where_nothing_is_bought(run):
    result = run("--write-changes", "@buy.yaml", "--max-price", "1")
    assert "was not written: nothing is bought" in result.stderr
    assert not (run.folder / "buy.yaml").exists()


@pytest.mark.parametrize(
    "options, groups, words",
    [
        pytest.param(["--max-price", "cheap"], "groups", "--max-price: must be a number", id="a price"),
        pytest.param([], "broken", "nodeGroups[0].template: required", id="a group without a template"),
        pytest.param([], "none", "none", id="a file that is not there"),
    ],
)
def test_a_fault_is_one_line(run, options, groups, words):
    result = run(*options, groups=groups, code=2)
    assert words in result.stderr
    assert "Traceback" not in result.stderr


CONSOLIDATE = ["provision", "provision-consolidate", "--node-groups", "three-sizes", "--consolidate"]


def test_what_is_returned_stands_beside_what_is_bought_and_is_a_scenario(tmp_path):
    changes = str(tmp_path / "changes.yaml")
    arguments = [*CONSOLIDATE, "--group-label", "pool", "--write-changes", changes]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "0.48 in place of 0.91 for 3 priced nodes, proven" in result.stdout
    assert "2 nodes bought, then 4 moves" in result.stdout
    scenario = ["what-if", "provision-consolidate", "--scenario", changes, "-o", "json"]
    [after] = json.loads(CliRunner().invoke(main, scenario).stdout)["scenarios"]
    assert len(after["newNodes"]) == 2
    assert sorted(after["lostNodes"]) == ["large-1", "large-2"]


@pytest.mark.parametrize(
    "options, words",
    [
        pytest.param(["--group-label", "pool"], "go with --consolidate only", id="a label without it"),
        pytest.param(["--ignore-annotations"], "go with --consolidate only", id="moves without it"),
        pytest.param(["--consolidate", "--max-price", "1"], "does not go with", id="a limit of the price"),
    ],
)
def test_options_that_do_not_go_together_are_told(run, options, words):
    assert words in run(*options, code=2).stderr


@pytest.mark.parametrize(
    "price, option, words",
    [
        ("1e13", (), "nodeGroups[0].price: must be at most 1,000,000, not 10000000000000"),
        ("1", ("--max-price", "1e400"), "--max-price: must be at most 100,000,000,000, not '1e400'"),
    ],
    ids=["of a group", "of all"],
)
def test_a_price_too_high_to_be_added_up_is_one_line(run, price, option, words):
    (run.folder / "dear").write_text(GROUPS.replace("price: 2", f"price: {price}"))
    assert words in run(*option, groups="dear", code=2).stderr
