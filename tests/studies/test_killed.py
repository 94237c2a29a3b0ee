"""A study that is killed at any moment: nothing is lost, nothing is done twice."""

import multiprocessing
import os
import random
import sys
import time

import pytest
from support.noting import Noting
from support.traces import event, openb_tables, pod, written

from kubestow.solver.options import SolveOptions
from kubestow.studies.execute import execute
from kubestow.studies.folder import StudyFolder, writing
from kubestow.studies.pace import Pace
from kubestow.studies.plan import plan_of
from kubestow.studies.reading import read_study

STUDY = """
instances:
- {generate: packing, seeds: 70, with: {nodes: 1, pods_per_node: 1, priorities: 1, utilisation: 1}}
- {trace: shop.sktrace, cluster: {nodes: [{allocatable: {cpu: "4"}}]}, every: 1s}
- {openb: {nodes: nodes.csv, pods: pods.csv}, seeds: 10}
schedulers: [optimal]
seeds: 2
"""


class Telling(Pace):
    """Tells each run that is done, as a line."""

    def __init__(self, pipe):
        super().__init__()
        self._pipe = pipe

    def finished(self, run, solved):
        super().finished(run, solved)
        os.write(self._pipe, f"{run.id}\n".encode())


def session(place, form, pipe):
    file, study = read_study(place / "study.yaml")
    runs = plan_of(study, file)

    with writing(place / "results", study, runs, form, {"kubestow": "of a test"}) as folder:
        execute(folder, runs, SolveOptions(workers=2, engine="local"), Telling(pipe), Noting(place / "begun"))


class Session:
    """A session in a process that starts as a copy of this one, so that nothing is imported anew."""

    def __init__(self, place, form):
        reading, writing_end = os.pipe()
        self.process = multiprocessing.get_context("fork").Process(
            target=session, args=(place, form, writing_end)
        )
        self.process.start()
        os.close(writing_end)
        self.told = os.fdopen(reading)

    def ended(self):
        rest = self.told.read().split()
        self.told.close()
        self.process.join()
        return rest


def begun(place):
    file = place / "begun"
    return file.read_text().split() if file.exists() else []


@pytest.mark.skipif(sys.platform != "linux", reason="sessions start as copies of this process")
@pytest.mark.parametrize(
    "form, kills",
    [
        pytest.param("csv", 5, id="five times"),
        pytest.param("parquet", 20, id="twenty times, in Parquet", marks=pytest.mark.slow),
    ],
)
def test_a_study_that_is_killed_loses_nothing_and_does_nothing_twice(tmp_path, form, kills):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    (tmp_path / "study.yaml").write_text(STUDY)
    written(tmp_path / "shop.sktrace", event(0, pod("a")), event(19, pod("b")))
    openb_tables(tmp_path)
    results = tmp_path / "results"
    rng = random.Random(kills)
    kept = set()
    for _ in range(kills):
        before = len(begun(tmp_path))
        killed = Session(tmp_path, form)
        told = [line.strip() for _, line in zip(range(rng.randrange(12)), killed.told, strict=False)]
        time.sleep(rng.uniform(0, 0.02))
        killed.process.kill()
        told += killed.ended()
        assert not set(begun(tmp_path)[before:]) & kept
        now = set(StudyFolder(results).rows()) if (results / "study.json").exists() else set()
        assert now >= kept | set(told)
        kept = now
    before = len(begun(tmp_path))
    last = Session(tmp_path, form)
    last.ended()
    assert last.process.exitcode == 0
    assert not set(begun(tmp_path)[before:]) & kept
    folder = StudyFolder(results)
    assert len(folder.planned) == 200
    assert [row.run for row in folder.of_plan()] == folder.planned
    assert len(list((results / "runs").iterdir())) == 1
