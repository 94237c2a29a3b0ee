"""`kubestow rebalance` on the command line: what is printed, what is drawn, faults in one line."""

import json

import pytest
from click.testing import CliRunner
from support.builders import cluster, manifest, node

from kubestow.cli import main
from kubestow.models.rebalance import Rebalance
from kubestow.reports.figures import front

GANG, HALF = "rebalance-gang", "rebalance-half-used"
PRICE = ("--goal", "cheapest", "--price", "example.com/price")


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["rebalance", *arguments])
    assert result.exit_code == code, result.output
    return result


def document(*arguments):
    return json.loads(run(*arguments, "-o", "json").stdout)


def test_the_tables_tell_what_is_gained_and_by_which_moves():
    words = run(HALF, "--goal", "free-nodes", "--frontier").stdout.splitlines()
    assert words[:2] == ["rebalance-half-used: free-nodes", "2 moves in 1 batch, 2 nodes emptied"]
    assert words[2].startswith("proven optimal, ")
    assert words[2].endswith(" s, replayed in 6 steps")
    assert [" ".join(line.split()) for line in words[3:] if "─" not in line] == [
        "",
        "Tiers, most important first",
        "tier value bound one node at a time",
        "freeNodes 2 2 1 proven",
        "moves 2 2 1 proven",
        "",
        "Gain for each number of moves",
        "moves freeNodes bound",
        "0 0 0 proven",
        "1 1 1 proven",
        "2 2 2 proven",
        "",
        "Moves",
        "pod from to",
        "shop/web-0 n-1 n-3",
        "shop/api-0 n-2 n-3",
        "",
        "Emptied: n-1, n-2",
        "1 pod may not move: it has no controller that makes it again",
    ]


def test_a_gang_gets_in_by_two_moves_one_after_the_other():
    found = document(GANG, "--goal", "admit")
    best = found["optimal"]
    assert {move["pod"] for move in best["moves"]} == {"shop/web-0", "shop/web-1"}
    assert {each["pod"] for each in best["bindings"]} == {"shop/train-0", "shop/train-1"}
    assert (best["batches"], found["rule"]) == (2, "kube-scheduler without moves")
    assert found["heuristic"]["bindings"] == []
    assert found["stats"]["verified"]
    assert {item["reason"] for item in found["unmovable"]} == {
        'it is annotated cluster-autoscaler.kubernetes.io/safe-to-evict: "false"'
    }


def test_prices_are_shown_as_they_are_written():
    words = " ".join(run(HALF, *PRICE).stdout.split())
    assert "price 0.25 0.25 0.45 proven" in words
    assert document(HALF, *PRICE)["priceUnit"] == "0.01"


def test_moves_may_be_limited_and_pods_spared():
    assert len(document(HALF, "--goal", "free-nodes", "--max-moves", "1")["optimal"]["moves"]) == 1
    assert run(HALF, "--goal", "free-nodes", "--never-move", "shop:", "-o", "name").stdout == ""
    assert run(HALF, "--goal", "free-nodes", "-o", "name").stdout.split() == ["pod/web-0", "pod/api-0"]


def test_a_front_is_drawn_with_its_bounds(tmp_path):
    pytest.importorskip("matplotlib")
    file = tmp_path / "front.svg"
    found = document(HALF, "--goal", "free-nodes", "--frontier", "--plot", str(file))
    assert "<svg" in file.read_text()
    [axes] = front(Rebalance.model_validate(found)).axes
    [line], [marks] = axes.lines, axes.collections
    assert line.get_xydata().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert marks.get_offsets().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert axes.get_ylabel() == "freeNodes"


@pytest.mark.parametrize(
    "arguments, words",
    [
        pytest.param([HALF], "Missing option '--goal'", id="no goal"),
        pytest.param([HALF, "--goal", "cheapest"], "--goal cheapest needs --price KEY", id="no price"),
        pytest.param(
            [HALF, "--goal", "admit", "--price", "example.com/price"],
            "--price goes with --goal free-nodes or cheapest; --goal admit counts no price",
            id="a price that plays no part",
        ),
        pytest.param(
            [HALF, "--goal", "cheapest", "--price", "cost"],
            "Node n-1: no label or annotation cost",
            id="a price that is not there",
        ),
        pytest.param(
            [HALF, "--goal", "admit", "--plot", "x.svg"], "--plot goes with --frontier", id="no front"
        ),
        pytest.param([HALF, GANG, "--goal", "admit"], "rebalance takes one INSTANCE", id="two instances"),
        pytest.param(
            [HALF, "--goal", "admit", "--frontier", "--plot", "x.gif"],
            "x.gif: the name of a figure",
            id="a GIF",
        ),
        pytest.param([HALF, "--goal", "admit", "--never-move", "a=("], "--never-move", id="a bad selector"),
    ],
)
def test_faults_are_told_in_one_line(arguments, words):
    message = run(*arguments, code=2).stderr
    assert words in message
    assert message.count("kubestow: error:") == 1


def test_prices_too_fine_to_be_added_up_are_one_line(tmp_path):
    file = tmp_path / "dear.yaml"
    file.write_text(manifest(cluster(node("a").label(price="9000000000000000000"))))
    error = run(str(file), "--goal", "cheapest", "--price", "price", code=2).stderr
    assert error.startswith("kubestow: error: price: prices of more than 9 decimals, or of more than 10^15 ")
