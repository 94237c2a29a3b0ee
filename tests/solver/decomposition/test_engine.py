"""Engines run the same function on the same pieces: here, in processes, on Dask."""

import os
import signal
import socket
import time
from dataclasses import replace

import pytest
from support.builders import cluster as round_of
from support.builders import node, pod
from support.proof import OPTIONS
from support.side_by_side import side_by_side
from support.strategies import small

from kubestow.framework.build import build_cluster
from kubestow.models.errors import InternalError, KubestowError
from kubestow.solver.api import solve
from kubestow.solver.decomposition.dask_engine import require_dask
from kubestow.solver.decomposition.engine import Here, Processes, engine_for
from kubestow.solver.decomposition.search import search_round
from kubestow.solver.options import SolveOptions
from kubestow.solver.plans.greedy_baseline import greedy_outcome
from kubestow.solver.study import study

ONE_PART = round_of(node("a", cpu="1"), pod("p").req(cpu="1"))


def study_one(snapshot, options):
    return study([snapshot], options)


def doubled(shared, piece, report):
    report(f"{piece} in work")
    return shared * piece


def refusing(shared, piece, report):
    raise KubestowError(f"{piece} is not to be done")


def broken(shared, piece, report):
    raise ZeroDivisionError("by zero")


def vanishing(shared, piece, report):
    os._exit(3)


def vanishing_first(shared, piece, report):
    if piece == 1:
        vanishing(shared, piece, report)
    return piece


def failing_to_load(shared, piece, report):
    raise ImportError("initialization failed") from KeyboardInterrupt()


def waiting(shared, piece, report):
    try:
        report("ready")
        time.sleep(60)
    except KeyboardInterrupt:
        return f"{piece} was told to stop"
    return f"{piece} was not told"


@pytest.mark.parametrize("engine", [Here(), Processes(2)], ids=["here", "processes"])
class TestLocalEngines:
    def test_every_piece_gets_its_result_and_its_news_arrive(self, engine):
        news = []
        results = engine.run(doubled, 10, [1, 2, 3], lambda number, item: news.append((number, item)))
        assert sorted(results) == [(0, 10), (1, 20), (2, 30)]
        assert sorted(news) == [(0, "1 in work"), (1, "2 in work"), (2, "3 in work")]

    def test_pieces_are_taken_when_there_is_a_slot(self, engine):
        taken = []

        def pieces():
            for k in range(4):
                taken.append(k)
                yield k

        for done, _ in enumerate(engine.run(doubled, 1, pieces(), lambda *_: None)):
            assert len(taken) <= done + engine.slots

    def test_what_the_user_can_put_right_stays_one_line(self, engine):
        with pytest.raises(KubestowError, match="7 is not to be done"):
            list(engine.run(refusing, None, [7], lambda *_: None))


def test_a_bug_in_a_process_keeps_its_traceback():
    with pytest.raises(InternalError, match="ZeroDivisionError: by zero"):
        list(Processes(1).run(broken, None, [1], lambda *_: None))


def test_a_process_that_vanishes_is_noticed():
    results = dict(Processes(1).run(vanishing_first, None, [1, 2], lambda *_: None))
    assert "ended with code 3" in str(results[0].error)
    assert results[1] == 2


def test_a_search_does_not_go_on_without_a_part(round_of_three, monkeypatch):
    monkeypatch.setattr("kubestow.solver.decomposition.search.search_part", vanishing)
    with pytest.raises(InternalError, match="ended with code 3"):
        found(round_of_three, replace(OPTIONS, workers=2))


def test_a_module_that_ctrl_c_keeps_from_loading_is_an_interruption():
    assert list(Processes(1).run(failing_to_load, None, [1], lambda *_: None)) == []


def test_ctrl_c_is_passed_on_and_no_further_piece_is_taken():
    ready = []

    def watch(number, news):
        ready.append(number)
        if len(ready) == 2:
            os.kill(os.getpid(), signal.SIGINT)

    results = list(Processes(2).run(waiting, None, ["a", "b", "c"], watch))
    assert sorted(results) == [(0, "a was told to stop"), (1, "b was told to stop")]


@pytest.mark.parametrize(
    "options, slots",
    [(SolveOptions(workers=1), 1), (SolveOptions(workers=3), 3), (SolveOptions(workers=8), 5)],
)
def test_there_are_no_more_slots_than_workers_and_pieces(options, slots):
    with engine_for(options, 5) as engine:
        assert engine.slots == slots


def found(snapshot, options):
    cluster = build_cluster(snapshot)
    greedy, _ = greedy_outcome(cluster)
    result = search_round(cluster, greedy, options, None, time.monotonic(), least=1)
    return result.best, result.bounds, result.variables


@pytest.fixture(scope="module")
def round_of_three():
    """Three rounds that are proven in a moment."""
    return side_by_side(small(2), small(3), small(8), name="three")


@pytest.fixture(scope="module")
def reference(round_of_three):
    result = found(round_of_three, OPTIONS)
    assert all(proven for _, proven in result[1].values())
    return result


def test_processes_find_what_one_process_finds(round_of_three, reference):
    """Each of two processes gets one thread of the two workers."""
    assert found(round_of_three, replace(OPTIONS, workers=2)) == reference


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
def test_dask_finds_what_one_process_finds(round_of_three, reference):
    pytest.importorskip("distributed")
    assert found(round_of_three, replace(OPTIONS, engine="dask")) == reference


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_runs_already_is_used(round_of_three, reference):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        options = replace(OPTIONS, engine="dask", dask=cluster.scheduler_address)
        assert found(round_of_three, options) == reference


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_that_is_not_there_is_one_line(round_of_three, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("kubestow.solver.decomposition.dask_engine.PATIENCE", 0.2)
    with pytest.raises(KubestowError, match=r"--dask: tcp://127\.0\.0\.1:1: cannot be reached"):
        found(round_of_three, replace(OPTIONS, engine="dask", dask="tcp://127.0.0.1:1"))


ADDRESSES = ["", "here", "tcp://127.0.0.1:1", "tcp://127.0.0.1:x", "spark://127.0.0.1:1", "tls://127.0.0.1:1"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("address", ADDRESSES, ids=repr)
@pytest.mark.parametrize(
    "solve_it", [solve, study_one], ids=["a round of one part", "a study of one instance"]
)
def test_an_address_of_nobody_is_told_however_little_there_is_to_do(address, solve_it, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("kubestow.solver.decomposition.dask_engine.PATIENCE", 0.2)
    with pytest.raises(KubestowError, match=f"--dask: {address}: cannot be reached"):
        solve_it(ONE_PART, replace(OPTIONS, engine="dask", dask=address))


@pytest.mark.filterwarnings("ignore")
def test_a_server_that_does_not_answer_is_not_waited_for(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("kubestow.solver.decomposition.dask_engine.PATIENCE", 0.2)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(KubestowError, match=r"no answer in 0\.2 s"),
    ):
        require_dask(f"tcp://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.filterwarnings("ignore")
def test_a_scheduler_without_workers_and_a_worker_are_no_engines():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp://",
        host="127.0.0.1",
        dashboard_address=None,
    ) as cluster:
        require_dask(cluster.scheduler_address)
        with pytest.raises(KubestowError, match="is no Dask scheduler but a Worker"):
            require_dask(cluster.workers[0].address)
    with (
        distributed.LocalCluster(
            n_workers=0, processes=False, protocol="tcp://", host="127.0.0.1", dashboard_address=None
        ) as cluster,
        pytest.raises(KubestowError, match="the scheduler has no workers"),
    ):
        require_dask(cluster.scheduler_address)


@pytest.mark.parametrize(
    "options, words",
    [
        ({"engine": "spark"}, "--engine: 'spark' is not one of local, dask"),
        ({"dask": "tcp://host:1"}, "--dask goes with --engine dask only"),
    ],
)
def test_engines_that_are_none_are_refused(options, words):
    with pytest.raises(KubestowError, match=words):
        SolveOptions(**options)


def test_progress_is_that_of_the_whole_round(round_of_three, monkeypatch):
    monkeypatch.setattr("kubestow.solver.decomposition.search.LEAST", 1)
    heard = []
    plan = solve(round_of_three, OPTIONS, heard.append)
    values = {tier.name: tier for tier in plan.tiers}
    assert heard
    for progress in heard:
        tier = values[progress.tier]
        if progress.incumbent is not None and tier.sense == "max":
            assert progress.incumbent <= tier.value
        if progress.bound is not None and tier.sense == "max":
            assert progress.bound >= tier.value
