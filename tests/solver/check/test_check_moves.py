"""What `kubestow check` finds of drains and rebalancings, and which documents it does not read."""

import copy
import json

import pytest
from click.testing import CliRunner

from kubestow.cli import main

DRAIN = ["drain", "drain-one-order", "--all-nodes", "--rolling", "1"]
ADMIT = ["rebalance", "rebalance-gang", "--goal", "admit"]
EVERY = "every step passes every filter and keeps every budget"


@pytest.fixture(scope="module")
def told():
    """Documents of commands, each made once."""
    made = {}

    def of(command):
        if tuple(command) not in made:
            result = CliRunner().invoke(main, [*command, "-q", "-o", "json"])
            assert result.exit_code == 0, result.output
            made[tuple(command)] = json.loads(result.stdout)
        return copy.deepcopy(made[tuple(command)])

    return of


def checked(document):
    """Return the exit code and what holds, claim by claim."""
    result = CliRunner().invoke(main, ["check", "-", "-q", "-o", "json"], input=json.dumps(document))
    found = json.loads(result.stdout)["claims"] if result.exit_code != 2 else []
    return result, {item["claim"]: item["holds"] for item in found}


@pytest.mark.parametrize("command", [DRAIN, ADMIT])
def test_moves_hold_as_they_were_made(command, told):
    result, found = checked(told(command))
    assert result.exit_code == 0
    assert [
        claim for claim, holds in found.items() if holds is None and "beside the steps" not in claim
    ] == []
    assert any(claim.endswith(EVERY) for claim in found)


def test_a_drain_that_is_impossible_is_not_checked():
    made = CliRunner().invoke(
        main, ["drain", "drain-no-room", "--all-nodes", "--rolling", "1", "-q", "-o", "json"]
    )
    document = json.loads(made.stdout)
    assert document["verdict"] == "impossible"
    result, found = checked(document)
    assert result.exit_code == 0
    assert found["the drain is impossible"] is None


@pytest.mark.parametrize(
    "command, change, claim",
    [
        pytest.param(DRAIN, lambda d: d["steps"].pop(), EVERY, id="a step that is left out"),
        pytest.param(DRAIN, lambda d: d["steps"].reverse(), EVERY, id="steps in another order"),
        pytest.param(DRAIN, lambda d: d.update(moves=9), "moves and waits", id="the number of moves"),
        pytest.param(
            DRAIN,
            lambda d: d["stages"].pop(),
            "the stages are those of the steps",
            id="a stage that is missing",
        ),
        pytest.param(ADMIT, lambda d: d["optimal"]["steps"].pop(0), EVERY, id="a mark that is left out"),
        pytest.param(
            ADMIT,
            lambda d: d["optimal"]["moves"].pop(),
            "moves are those of the steps",
            id="a move not listed",
        ),
        pytest.param(
            ADMIT,
            lambda d: d["optimal"]["bindings"].pop(),
            "bindings are those of the steps",
            id="a pod not listed",
        ),
        pytest.param(
            ADMIT,
            lambda d: d["unmovable"].append(
                {"pod": d["optimal"]["moves"][0]["pod"], "node": "n", "reason": "said"}
            ),
            "who is said to stay does not move",
            id="a pod that stays and moves",
        ),
        pytest.param(
            ADMIT,
            lambda d: next(t for t in d["optimal"]["tiers"] if t["name"] == "moves").update(bound=99),
            "no value is beyond its bound",
            id="a bound that the value beats",
        ),
    ],
)
def test_moves_that_were_tampered_with_do_not(command, change, claim, told):
    document = told(command)
    change(document)
    result, found = checked(document)
    assert result.exit_code == 1
    assert [said for said, holds in found.items() if holds is False and said.endswith(claim)]


@pytest.mark.parametrize(
    "document, command",
    [
        ({"answers": [], "othersMayWait": False}, "suggest"),
        ({"podsPerCopy": 1, "tried": 16}, "fit"),
        ({"purchase": {}, "heuristics": []}, "provision"),
        ({"priceNow": 1.0, "priced": 1}, "consolidate"),
        ({"before": {}, "scenarios": []}, "what-if"),
        ({"causes": [], "message": "", "queue": 0}, "explain"),
    ],
)
def test_documents_that_are_not_checked_are_named(document, command):
    result, _ = checked({"instance": "drain-one-order", **document})
    assert result.exit_code == 2
    assert f"error: -: a document of `kubestow {command}`, of which nothing is checked" in result.stderr
    assert "Traceback" not in result.output


def test_a_document_in_yaml_is_read():
    made = CliRunner().invoke(main, ["explain", "guard-service", "promo-0", "--why", "-q", "-o", "yaml"])
    result = CliRunner().invoke(main, ["check", "-", "-q", "-o", "json"], input=made.stdout)
    assert json.loads(result.stdout)["holds"] is True
