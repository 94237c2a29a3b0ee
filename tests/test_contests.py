"""Rivals are given a fair hearing: their models say what ours say, and their plans are valued like ours."""

import importlib
import json
from itertools import product
from pathlib import Path

import pytest
from ortools.sat.python import cp_model
from support.builders import budget, cluster, node, pod
from support.proof import PLENTY

import kubestow
from kubestow.instances.generated import deployments, packing
from kubestow.instances.manifests import snapshot_of

ROOT = Path(kubestow.__file__).parent


@pytest.fixture(autouse=True)
def _checkout(monkeypatch):
    """The package is of the checkout and not installed."""
    monkeypatch.syspath_prepend(str(ROOT))


def module(name):
    return importlib.import_module(f"benchmarks.{name}")


ROUNDS = {
    "packing with priorities": lambda: snapshot_of(packing(4, 4, 2, 1.0, seed=1)),
    "spreading and evictions": lambda: snapshot_of(deployments(4, 1, apps=4, demand=1.2, pods_per_node=5)),
    "a budget that must be violated": lambda: cluster(
        node("a", cpu="2"),
        pod("v").on("a").priority(0).req(cpu="1").label(app="v").times(2),
        pod("p").priority(5).req(cpu="1").times(2),
        budget("keep", {"app": "v"}, allowed=1),
    ),
}


@pytest.mark.parametrize("name", ROUNDS)
def test_everybody_who_proves_a_round_proves_the_same(name):
    results = module("contest").contest(ROUNDS[name](), seconds=PLENTY, workers=1)
    ours = results["ours"]
    assert ours.proven
    for way in ("booleans", "counts", "mip"):
        if results[way].note == "HiGHS is not installed":
            continue
        assert results[way].proven, (way, results[way])
        assert results[way].costs == ours.costs, (way, results[way], ours)
    assert results["greedy"].costs >= ours.costs


def test_what_a_rival_does_not_know_is_said():
    friends = cluster(node("a"), pod("p").req(cpu="1").label(app="p").anti("hostname"))
    result = module("contest").contest(friends, 5, ["booleans"])["booleans"]
    assert (result.values, result.note) == (None, "no affinity")


def test_a_model_that_takes_too_long_to_build_is_no_plan():
    result = module("contest").contest(ROUNDS["packing with priorities"](), 0.0, ["booleans"])["booleans"]
    assert (result.values, result.note) == (None, "not built in time")


def test_a_failure_is_not_taken_for_a_bad_plan(monkeypatch):
    contest = module("contest")
    monkeypatch.setitem(contest.RIVALS, "counts", "benchmarks.rivals.nobody")
    with pytest.raises(RuntimeError, match="counts failed"):
        contest.contest(ROUNDS["packing with priorities"](), 1, ["counts"])


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(lambda m, x: m.add(2 * x[0] - 3 * x[1] + x[2] <= 1), id="a row"),
        pytest.param(
            lambda m, x: m.add(x[0] + 2 * x[1] <= 1).only_enforce_if(x[2]), id="a row under a literal"
        ),
        pytest.param(
            lambda m, x: m.add(x[0] + x[1] == 1).only_enforce_if(x[2].negated(), x[3]),
            id="an equation under two literals",
        ),
        pytest.param(lambda m, x: m.add_bool_or(x[0], x[1].negated(), x[2]), id="a clause"),
        pytest.param(
            lambda m, x: m.add_bool_or(x[0], x[1].negated()).only_enforce_if(x[2], x[3].negated()),
            id="a clause under literals",
        ),
        pytest.param(lambda m, x: m.add_implication(x[0], x[1].negated()), id="an implication"),
        pytest.param(lambda m, x: m.add_at_most_one(x[0], x[1].negated(), x[2]), id="at most one"),
        pytest.param(lambda m, x: m.add_exactly_one(x[0], x[1].negated(), x[2]), id="exactly one"),
        pytest.param(
            lambda m, x: m.add(x[0] + x[2] <= 1).only_enforce_if(x[2]), id="a literal that is in its row, too"
        ),
    ],
)
def test_every_row_for_highs_admits_what_cp_sat_admits(state):
    mip = module("rivals.mip")
    model = cp_model.CpModel()
    variables = [model.new_bool_var(f"x{k}") for k in range(4)]
    state(model, variables)
    rows = [row for c in model.proto.constraints for row in mip.rows_of(c, [0] * 4, [1] * 4)]
    for point in product((0, 1), repeat=4):
        sums = [sum(v * point[k] for k, v in zip(index, values, strict=True)) for *_, index, values in rows]
        linear = all(low <= total <= high for (low, high, *_), total in zip(rows, sums, strict=True))
        held = model.clone()
        for variable, value in zip(variables, point, strict=True):
            held.add(held.get_int_var_from_proto_index(variable.index) == value)
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        assert linear == (solver.solve(held) == cp_model.OPTIMAL), point


def test_a_run_is_taken_up_where_it_ended(tmp_path, monkeypatch):
    runner, registry = module("runner"), module("registry")
    monkeypatch.setattr(runner, "RESULTS", tmp_path)
    measured = []

    def apart(spec, case):
        measured.append(case["n"])
        return {**case, "square": case["n"] ** 2}

    monkeypatch.setattr(runner, "_apart", apart)
    cases = tuple({"n": n} for n in (1, 2, 3))
    spec = registry.BenchSpec("squares", "Squares", "", cases, cases[:1], lambda n: {}, ())
    first = runner.run(spec)
    assert [next(first)["square"], next(first)["square"]] == [1, 4]
    assert [row["square"] for row in runner.rows_so_far(spec)] == [1, 4]
    assert [row["square"] for row in runner.run(spec, resume=True)] == [1, 4, 9]
    assert measured == [1, 2, 3]
    assert len([json.loads(line) for line in (tmp_path / "squares.jsonl").read_text().splitlines()]) == 3
    assert [row["square"] for row in runner.run(spec, quick=True)] == [1]


def test_packing_is_told_by_nodes_and_time():
    packing_ = module("packing")

    def row(ways, share, every=1):
        told = {f"{way}_{what}": share for way in ways for what in packing_.SHARES}
        return {"nodes": 4, "seconds": 1.0, "ways": ways, "every": every, "count": 10, **told}

    contested, alone = row(packing_.EVERYBODY, 5), row(("ours",), 10)
    [line] = packing_.fold([contested, alone])
    assert (line["count"], line["ours"]) == (20, "75% · 75% · 75%")
    assert (line["rivals"], line["mip"], line["best"]) == (10, "50% · 50% · 50%", "50%")
    [line] = packing_.fold([row(packing_.EVERYBODY, 5, every=3), alone])
    assert (line["count"], line["ours"]) == (10, "100% · 100% · 100%"), "cells left out weigh nothing"
    assert (line["rivals"], line["mip"]) == (10, "50% · 50% · 50%")
    [line] = packing_.fold([alone])
    assert (line["rivals"], line["mip"], line["best"]) == (0, "– · – · –", "–")
