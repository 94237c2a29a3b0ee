"""Phases one at a time on a tiny round, and the order of all of them."""

import re
import time
from pathlib import Path

import pytest
from support.builders import cluster, node, pod
from support.proof import OPTIONS

from kubestow.encoders.build import build_problem
from kubestow.framework.build import build_cluster
from kubestow.models import tiers
from kubestow.solver.lns.params import LnsParams
from kubestow.solver.ordering.decoding import complete
from kubestow.solver.search import phases
from kubestow.solver.search.params import SearchParams
from kubestow.solver.search.state import SearchState
from kubestow.solver.search.tier_run import TierRun

DOCS = (Path(__file__).parents[3] / "docs" / "model.md").read_text(encoding="utf-8")

SCHEDULED = tiers.scheduled(0)

CROWDED = cluster(
    [node(name, cpu="3") for name in "ab"],
    pod("large").req(cpu="2").created(9).times(2),
    pod("small").req(cpu="1").created(1).times(4),
)
"""Six pods wait, the order of the queue places four of them, and five is best."""

EVERY = (*phases.SMALL_MODEL, *phases.BEFORE_LARGE, *phases.LARGE_MODEL)

LNS = LnsParams(sub_limit=10.0, max_sub_limit=10.0)
"""Steps that end by proof alone."""


def run_of(large, **changes):
    """Begin the run of what is placed, with the plan in queue order as the incumbent."""
    size = 0 if large else SearchParams().small_model
    given = {"small_model": size, "few_nodes": 0, "decode_seconds": 0.0, "decode_factor": 0.0, "lns": LNS}
    params = SearchParams(**given | changes)
    problem = build_problem(build_cluster(CROWDED))
    state = SearchState(problem, OPTIONS, params, None, time.monotonic())
    state.offer(*complete(problem, ()))
    names = [tier.name for tier in state.incumbent.valuation.tiers]
    first = names.index(SCHEDULED)
    for name in names[:first]:
        state.settle(name)
    return TierRun.of(state, names, first)


def left_by(run):
    return run.state.value(run.name), run.state.bound(run.name), run.settled


BEFORE = (4, 6, False)
ROWS = [
    pytest.param(phases.search_quickly, None, {}, (5, 5, True), id="one worker proves a small model"),
    pytest.param(phases.add_up, None, {}, (4, 5, False), id="sums over the nodes bound and find no plan"),
    pytest.param(phases.count_nodes, None, {}, (5, 5, False), id="six do not fit on the nodes and five do"),
    pytest.param(phases.pack, None, {}, (5, 6, False), id="packing finds the best plan and proves nothing"),
    pytest.param(phases.pack_once, None, {}, BEFORE, id="one try is to attain the bound, which no plan does"),
    pytest.param(phases.pack_once, 5, {}, (5, 5, False), id="and finds a plan where one attains it"),
    pytest.param(phases.fill_types, None, {}, (5, 5, False), id="columns bound and fill the nodes"),
    pytest.param(phases.refill, None, {}, BEFORE, id="refill search is for tiers of victims"),
    pytest.param(phases.relax, None, {}, (4, 5, False), id="the linear relaxation bounds and finds no plan"),
    pytest.param(phases.attain, None, {}, (5, 5, False), id="six is refuted and five is attained"),
    pytest.param(phases.improve_briefly, None, {}, (5, 6, False), id="a brief search finds a plan, no bound"),
    pytest.param(phases.sharpen, None, {}, (5, 5, False), id="sharpening bounds and finds the plan"),
    pytest.param(phases.improve_small, 5, {}, (5, 5, False), id="a search ends where the bound is attained"),
    pytest.param(phases.search_to_the_end, None, {}, (5, 5, True), id="the whole model proves all tiers"),
    pytest.param(
        phases.search_to_the_end, None, {"huge_model": 0}, BEFORE, id="a huge model is not searched"
    ),
    pytest.param(phases.search_for_a_share, None, {}, (5, 5, True), id="a share of the time may prove it"),
    pytest.param(phases.search_for_a_share, None, {"huge_model": 0}, BEFORE, id="a huge model gets no share"),
    pytest.param(phases.improve_to_the_end, 5, {}, (5, 5, False), id="and so does the last search"),
]


@pytest.mark.parametrize("large", [False, True], ids=["as a small model", "as a large model"])
@pytest.mark.parametrize("phase, told, changes, left", ROWS)
def test_what_a_phase_leaves(phase, told, changes, left, large):
    run = run_of(large, **changes)
    assert left_by(run) == BEFORE
    if told is not None:
        run.state.tell(run.name, told)
    phase(run)
    assert left_by(run) == left
    assert run.open() == (left[0] != left[1])


def test_a_run_whose_share_of_the_time_is_over_is_not_done():
    """What is left of the round's time is for another run of the tier."""
    run = run_of(large=True)
    run.until = time.monotonic()
    assert not run.open()
    assert not run.done()
    run.state.end()
    assert run.done()


@pytest.mark.parametrize("phase", [phases.improve_briefly, phases.improve_small])
def test_a_small_model_of_few_nodes_has_no_neighbourhoods(phase):
    run = run_of(large=False, few_nodes=2)
    phase(run)
    assert left_by(run) == BEFORE


@pytest.mark.parametrize("phase", [p for p in dict.fromkeys(EVERY) if p not in (phases.add_up, phases.relax)])
def test_a_phase_after_ctrl_c_searches_nothing(phase):
    run = run_of(large=False)
    run.state.interrupted = run.state.bounding.interrupted = True
    phase(run)
    assert left_by(run) == BEFORE
    assert not run.open()


@pytest.mark.parametrize(
    "size, listed",
    [
        pytest.param("Small", phases.SMALL_MODEL, id="small models"),
        pytest.param("Large", (*phases.BEFORE_LARGE, *phases.LARGE_MODEL), id="large models"),
    ],
)
def test_phases_come_in_the_order_that_the_docs_give(size, listed):
    (line,) = re.findall(rf"^- {size} models: (.*(?:\n  .*)*)", DOCS, flags=re.MULTILINE)
    assert re.findall(r"`(\w+)`", line) == [phase.__name__ for phase in listed]
