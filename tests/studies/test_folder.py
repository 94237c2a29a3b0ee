"""The folder of a study: what is kept, what is refused, what a lock and a crash leave."""

import multiprocessing
import sys

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.models.errors import InputError, KubestowError
from kubestow.models.study_file import StudyFile
from kubestow.models.study_row import StudyRow
from kubestow.reports.study_tables import conclusion
from kubestow.solver.options import SolveOptions
from kubestow.studies.durable import locked
from kubestow.studies.execute import execute
from kubestow.studies.folder import StudyFolder, writing
from kubestow.studies.pace import Pace
from kubestow.studies.parts import COLUMNS, decode, encode
from kubestow.studies.plan import plan_of
from kubestow.studies.report import report_of
from kubestow.studies.rows import Solved, about_run, failed

VERSIONS = {"kubestow": "1", "ortools": "2"}
STUDY = StudyFile.model_validate(
    {
        "name": "small",
        "instances": [{"generate": "one-app", "with": {"nodes": 1}}],
        "schedulers": ["optimal"],
        "seeds": 3,
    }
)
RUNS = plan_of(STUDY, "study.yaml")


def rows_of(run, **more):
    return (StudyRow(**about_run(run, "") | {"status": "OPTIMAL", **more}),)


def opened(place, form="csv", versions=VERSIONS, runs=RUNS, **more):
    return writing(place / "out", STUDY, runs, form, versions, **more)


def work(shared, run, report):
    return Solved(rows_of(run))


def executed(folder, do=work, runs=RUNS, **more):
    return execute(folder, runs, SolveOptions(workers=1), Pace(), do, **more)


optional = {
    name: st.none() | kind
    for name, kind in {
        "seed": st.integers(0, 2**31 - 1),
        "error": st.text(min_size=1),
        "number": st.integers(0, 99),
        "tier": st.text(min_size=1),
        "sense": st.sampled_from(["max", "min"]),
        "value": st.integers(-(2**63), 2**63 - 1),
        "bound": st.integers(-(2**63), 2**63 - 1),
        "proven": st.booleans(),
        "tier_seconds": st.floats(0, 1e6),
    }.items()
}
texts = {name: st.text(min_size=1) for name in ("instance", "family", "variant", "status", "input_hash")}


@pytest.mark.parametrize("form", ["csv", "parquet"])
@settings(max_examples=30)
@given(changes=st.lists(st.fixed_dictionaries({**optional, **texts}), min_size=1, max_size=3))
def test_rows_are_the_same_when_they_are_read_again(form, changes):
    if form == "parquet":
        pytest.importorskip("pyarrow")
    rows = [StudyRow(**about_run(RUNS[0], "") | {"status": ""} | change) for change in changes]
    assert decode(encode(rows, form), form) == rows


def test_columns_are_the_fields_as_json_spells_them():
    pyarrow = pytest.importorskip("pyarrow.parquet")
    import io

    table = pyarrow.read_table(io.BytesIO(encode(rows_of(RUNS[0]), "parquet")))
    assert tuple(table.column_names) == COLUMNS
    assert str(table.schema.field("value").type) == "int64"


def test_a_run_is_a_file_until_the_session_ends(tmp_path):
    with opened(tmp_path) as folder:
        folder.add(rows_of(RUNS[1]))
        folder.add(rows_of(RUNS[0]))
        names = sorted(file.name for file in (tmp_path / "out/runs").iterdir())
        assert names == sorted(f"{run.id}.csv" for run in RUNS[:2])
    assert [file.name for file in (tmp_path / "out/runs").iterdir()] == ["all-000001.csv"]
    assert [row.run for row in StudyFolder(tmp_path / "out").of_plan()] == [RUNS[0].id, RUNS[1].id]


def test_parts_that_were_put_together_and_not_taken_away_count_once(tmp_path):
    """As a kill between the two leaves them."""
    with opened(tmp_path) as folder:
        folder.add(rows_of(RUNS[0]))
        folder.add(rows_of(RUNS[1]))
        parts = {file: file.read_bytes() for file in (tmp_path / "out/runs").iterdir()}
    for file, content in parts.items():
        file.write_bytes(content)
    assert len(StudyFolder(tmp_path / "out").of_plan()) == 2
    with opened(tmp_path):
        assert [file.name for file in (tmp_path / "out/runs").iterdir()] == ["all-000002.csv"]


def test_a_folder_can_be_read_while_its_parts_are_put_together(tmp_path, monkeypatch):
    """They go after the reader has listed them and read the first."""
    with opened(tmp_path) as writer:
        writer.add(rows_of(RUNS[0]))
        writer.add(rows_of(RUNS[1]))
        together = iter([writer.put_together])

        def decoded(content, form):
            for put_together in together:
                put_together()
            return decode(content, form)

        monkeypatch.setattr("kubestow.studies.folder.decode", decoded)
        assert len(StudyFolder(tmp_path / "out").of_plan()) == 2


def test_what_was_half_written_is_swept_away(tmp_path):
    with opened(tmp_path):
        pass
    draft = tmp_path / "out/runs/.x.csv.draft"
    draft.write_text("half a r")
    assert StudyFolder(tmp_path / "out").of_plan() == []
    with opened(tmp_path):
        assert not draft.exists()


def test_runs_that_are_done_are_not_done_again(tmp_path):
    with opened(tmp_path) as folder:
        folder.add(rows_of(RUNS[1]))
        result = executed(folder)
    assert (result.total, result.before, result.now, result.interrupted) == (3, 1, 2, False)


def test_a_study_that_grows_goes_on_in_its_folder(tmp_path):
    with opened(tmp_path, runs=RUNS[:2]) as folder:
        executed(folder, runs=RUNS[:2])
    with opened(tmp_path) as folder:
        assert executed(folder).now == 1


def test_runs_that_are_no_longer_part_of_a_study_are_not_counted(tmp_path):
    with opened(tmp_path) as folder:
        executed(folder)
    with opened(tmp_path, runs=RUNS[:1]) as folder:
        assert len(folder.of_plan()) == 1
    report = report_of(tmp_path / "out")
    assert (report.planned, report.done, report.beside) == (1, 1, 2)
    assert "2 more in the folder are not part of the study" in conclusion(report)


@pytest.mark.parametrize("retry, now", [(False, 0), (True, 1)], ids=["as they are", "once more"])
def test_runs_that_failed_are_left(tmp_path, retry, now):
    with opened(tmp_path) as folder:
        executed(folder, lambda shared, run, report: failed(run, "no") if run == RUNS[0] else work(0, run, 0))
    with opened(tmp_path) as folder:
        result = executed(folder, retry_errors=retry)
    assert (result.now, result.failed) == (now, 1 - now)
    assert len(StudyFolder(tmp_path / "out").of_plan()) == 3


def test_a_run_that_is_cut_short_is_not_kept(tmp_path):
    with opened(tmp_path) as folder:
        result = executed(folder, lambda shared, run, report: Solved(rows_of(run), interrupted=True))
        assert (result.now, result.interrupted) == (0, True)
        assert folder.of_plan() == []


def test_a_worker_that_is_killed_is_a_row_and_the_others_go_on(tmp_path):
    def killed(shared, run, report):
        import os
        import signal

        if run == RUNS[1]:
            os.kill(os.getpid(), signal.SIGKILL)
        return Solved(rows_of(run))

    with opened(tmp_path) as folder:
        result = executed(folder, killed)
        [row] = [row for row in folder.of_plan() if row.status == "ERROR"]
    assert (result.now, result.failed) == (3, 1)
    assert row.run == RUNS[1].id
    assert "ended with code -9" in row.error


def _locks(place, answer):
    try:
        with locked(place):
            answer.put("held")
    except KubestowError as error:
        answer.put(str(error))


@pytest.mark.skipif(sys.platform != "linux", reason="the other process starts as a copy of this one")
def test_two_processes_do_not_write_one_folder(tmp_path):
    context = multiprocessing.get_context("fork")
    answer = context.SimpleQueue()

    def asked():
        process = context.Process(target=_locks, args=(tmp_path, answer))
        process.start()
        process.join()
        return answer.get()

    with locked(tmp_path):
        assert asked() == f"{tmp_path}: another process writes this study now"
    assert asked() == "held"


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/thesis.tex").write_text("")
    with pytest.raises(KubestowError, match=r"holds thesis\.tex and no study"), opened(tmp_path):
        pass


@pytest.mark.parametrize(
    "more, words",
    [
        pytest.param({"form": "parquet"}, "was begun with --rows csv", id="another format"),
        pytest.param(
            {"versions": {**VERSIONS, "ortools": "3"}},
            "was begun with ortools 2, this is 3",
            id="another solver",
        ),
    ],
)
def test_rows_are_not_mixed(tmp_path, more, words):
    with opened(tmp_path):
        pass
    with pytest.raises(KubestowError, match=words), opened(tmp_path, **more):
        pass


def test_what_is_to_be_resumed_has_to_be_there(tmp_path):
    with pytest.raises(KubestowError, match="there is no study to resume"), opened(tmp_path, resume=True):
        pass
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content, words",
    [
        pytest.param(None, "is no folder of a study", id="nothing"),
        pytest.param(b"{", "is not JSON", id="no JSON"),
        pytest.param(orjson.dumps({"layout": 99}), "layout: must be 1", id="a later layout"),
    ],
)
def test_a_folder_without_a_study_is_told(tmp_path, content, words):
    if content is not None:
        (tmp_path / "study.json").write_bytes(content)
    with pytest.raises(InputError, match=words):
        StudyFolder(tmp_path)


def test_a_part_that_is_none_is_told(tmp_path):
    with opened(tmp_path):
        (tmp_path / "out/runs/x.csv").write_text("a,b\n1,2\n")
        with pytest.raises(InputError, match=r"x\.csv: is no part of a study"):
            StudyFolder(tmp_path / "out").rows()
        (tmp_path / "out/runs/x.csv").unlink()
