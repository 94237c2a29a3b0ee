"""`kubestow study STUDY.yaml --into DIR` and `kubestow study-report DIR`: the example of docs/studies.md."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.traces import event, openb_tables, pod, written

import kubestow as ks
from kubestow.cli import main
from kubestow.models.study_report import StudyReport
from kubestow.reports.study_progress import StudyProgress, describe, duration
from kubestow.reports.study_statistics import CSV_COLUMNS

PAGE = Path(ks.__file__).parent / "docs" / "studies.md"
[EXAMPLE] = re.findall(r"```yaml\n(name: .*?)```", PAGE.read_text(), re.DOTALL)
RUNS = 5 * 2 * 3
NODE = "{apiVersion: v1, kind: Node, metadata: {name: n}, status: {allocatable: {cpu: '4', pods: '9'}}}"


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(EXAMPLE)
    first = run("study", folder / "study.yaml", "--into", folder / "out", "--rows", "csv", "--workers", "1")
    assert first.exit_code == 0, first.output
    (folder / "first.err").write_text(first.stderr)
    return folder


@pytest.fixture
def small(tmp_path):
    """A study of one node without pods, and of a file that is none."""
    (tmp_path / "node.yaml").write_text(NODE)
    (tmp_path / "broken.yaml").write_text("{apiVersion: v1, kind: Node, metadata: {}}")
    (tmp_path / "good.yaml").write_text("{instances: [node.yaml], schedulers: [greedy]}")
    (tmp_path / "bad.yaml").write_text("{instances: [node.yaml, broken.yaml], schedulers: [greedy]}")
    return tmp_path


def test_traces_are_run_once_and_a_trace_that_has_grown_is_run_again(tmp_path):
    (tmp_path / "node.yaml").write_text(NODE)
    trace = written(tmp_path / "shop.sktrace", event(0, pod("a")), event(9, pod("b")))
    openb_tables(tmp_path)
    (tmp_path / "study.yaml").write_text(
        "schedulers: [greedy]\ninstances:\n- {trace: shop.sktrace, cluster: node.yaml, every: 9s}\n"
        "- {openb: {nodes: nodes.csv, pods: pods.csv}}\n"
    )
    words = (
        "study",
        tmp_path / "study.yaml",
        "--into",
        tmp_path / "out",
        "--rows",
        "csv",
        "-o",
        "json",
        "-q",
    )
    counts = []
    for _ in range(2):
        counts.append(json.loads(run(*words).stdout))
    written(trace, event(0, pod("a")), event(9, pod("b")), event(18))
    counts.append(json.loads(run(*words, "--resume").stdout))
    assert [(each["total"], each["before"], each["now"]) for each in counts] == [
        (3, 0, 3),
        (3, 3, 0),
        (4, 1, 3),
    ]


def report(place, *words):
    answer = run("study-report", place / "out", *words)
    assert answer.exit_code == 0, answer.output
    return answer.stdout


def test_each_run_is_told_with_the_rate_and_the_time_left(place):
    lines = (place / "first.err").read_text().splitlines()
    told = [line for line in lines if " of " in line]
    assert len(told) == RUNS
    assert re.fullmatch(
        rf"kubestow: 1 of {RUNS}: zone-spread-dead-end \(optimal, 1\.36, seed 0\): OPTIMAL, [\d.]+ s; "
        r"[\d.]+ runs/(s|min), .* left",
        told[0],
    )


def test_the_same_command_goes_on_and_has_nothing_left_to_do(place):
    words = (
        "study",
        place / "study.yaml",
        "--into",
        place / "out",
        "--rows",
        "csv",
        "--resume",
        "-o",
        "json",
    )
    answer = run(*words)
    assert answer.exit_code == 0, answer.output
    assert json.loads(answer.stdout) == {
        "folder": str(place / "out"),
        "total": RUNS,
        "before": RUNS,
        "now": 0,
        "failed": 0,
        "interrupted": False,
    }


def test_the_example_says_what_greedy_loses(place):
    document = json.loads(report(place, "-o", "json"))
    shares = {(share["variant"], share["family"]): share for share in document["shares"]}
    assert (shares["1.36", None]["n"], shares["1.36", "packing"]["n"]) == (5, 3)
    [gap] = [gap for gap in document["gaps"] if gap["largest"] and gap["variant"] == "1.36"][:1]
    assert (gap["family"], gap["tier"], gap["mean"]) == ("bundled", "scheduled[priority=100]", 2.0)
    assert [(curve["n"], curve["proven"]) for curve in document["survival"]] == [(10, 10), (10, 10)]


def test_every_table_is_in_every_format(place):
    titles = [
        "Where greedy is optimal",
        "How far greedy is behind",
        "Variants against each other",
        "Time to proof",
        "Performance profiles",
    ]
    for form in ("table", "markdown", "latex", "html"):
        text = report(place, "-o", form)
        assert not [title for title in titles if title not in text], form
    assert r"scheduled{[}priority=100]" in report(place, "-o", "latex")
    assert r"scheduled\[priority=100\]" in report(place, "-o", "markdown")


def test_the_page_is_also_a_report(place, tmp_path):
    answer = run("report", place / "out", "-o", tmp_path / "page.html")
    assert answer.exit_code == 0, answer.output
    assert (tmp_path / "page.html").read_text() == report(place, "-o", "html")
    refused = run("report", place / "out", "--plot", tmp_path / "a.svg")
    assert refused.exit_code == 2
    assert "of a study's folder there is a page alone" in refused.stderr


def test_csv_has_a_line_with_its_n_for_each_number(place):
    lines = list(csv.DictReader(io.StringIO(report(place, "-o", "csv"))))
    assert tuple(lines[0]) == CSV_COLUMNS
    assert all(line["n"] and line["value"] for line in lines)
    assert {line["statistic"] for line in lines} == {"shares", "gaps", "contests", "survival", "profiles"}


@pytest.mark.parametrize("figure", ["survival", "profiles", "gaps"])
def test_figures_are_the_same_whenever_they_are_drawn(place, tmp_path, figure):
    pytest.importorskip("matplotlib")
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        report(place, "--plot", file, "--figure", figure)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_figure_of_nothing_is_told(small):
    assert run("study", small / "good.yaml", "--into", small / "out", "--rows", "csv").exit_code == 0
    answer = run("study-report", small / "out", "--plot", small / "a.svg", "--figure", "profiles")
    assert answer.exit_code == 2
    assert answer.stderr == (
        "kubestow: error: --figure profiles: needs two variants of the optimal scheduler\n"
    )


def test_python_loads_the_folder(place):
    loaded = ks.Study.load(place / "out")
    frame = loaded.to_frame()
    assert frame["run"].nunique() == RUNS
    assert set(frame["variant"]) == {"1.36", "1.34"}
    assert StudyReport.model_validate(loaded.to_dict()).done == RUNS
    assert "Time to proof" in str(loaded)


def test_a_run_that_failed_is_a_row_and_the_exit_code_is_1(small):
    answer = run("study", small / "bad.yaml", "--into", small / "out", "--rows", "csv", "-q")
    assert answer.exit_code == 1
    assert answer.stderr == "kubestow: 1 of 2 runs failed\n"
    text = report(small)
    assert "1 failed" in text
    assert "broken.yaml: Node" in " ".join(text.split())


WRONG = [
    ("two files", ["good.yaml", "bad.yaml", "--into", "out"], "--into takes one study file, not 2"),
    ("no file", ["--into", "out"], "--into takes one study file, not 0"),
    (
        "what the file says",
        ["good.yaml", "--into", "out", "--time-limit", "3"],
        "--time-limit does not go with --into: the study file says it",
    ),
    ("a study file alone", ["good.yaml"], "good.yaml is a study file: --into DIR runs it"),
    (
        "a study file beside an instance",
        ["node.yaml", "good.yaml"],
        "good.yaml is a study file: --into DIR runs it",
    ),
    ("rows without a folder", ["good.yaml", "--rows", "csv"], "--rows goes with --into only"),
    ("resuming without a folder", ["good.yaml", "--resume"], "--resume goes with --into only"),
    ("CSV on stdout", ["good.yaml", "--into", "out", "-o", "csv"], "-o csv does not go with --into"),
    (
        "resuming what was never begun",
        ["good.yaml", "--into", "out", "--rows", "csv", "--resume"],
        "out: there is no study to resume",
    ),
    ("an instance", ["node.yaml", "--into", "out"], "node.yaml: instances: required in a study file"),
]


@pytest.mark.parametrize("words, told", [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
def test_bad_usage_is_one_line(small, monkeypatch, words, told):
    monkeypatch.chdir(small)
    answer = run("study", *words)
    assert answer.exit_code == 2
    assert told in answer.stderr
    assert answer.stderr.count("\n") == 1
    assert not (small / "out").exists()


def test_parquet_without_its_library_names_the_extra(small, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    answer = run("study", small / "good.yaml", "--into", small / "out")
    assert answer.exit_code == 2
    assert "pip install 'kubestow[study]', or --rows csv" in answer.stderr
    assert not (small / "out").exists()


def test_a_terminal_has_a_line_for_each_worker():
    """Two workers; the one that is free first gets the next run."""
    now = [0.0]
    progress = StudyProgress(io.StringIO())
    progress.clock = lambda: now[0]
    one, two, three = (type("Run", (), {"id": name, "__str__": lambda self: self.id})() for name in "abc")
    assert describe(progress) == "reading the study"
    progress.begin(5, 1)
    progress.started(one)
    progress.started(two)
    assert describe(progress).splitlines() == [
        "1 of 5 runs done; no run is done yet",
        "worker 1: a, 0 s",
        "worker 2: b, 0 s",
    ]
    now[0] = 10.0
    super(StudyProgress, progress).finished(one, None)
    progress.started(three)
    assert describe(progress).splitlines() == [
        "2 of 5 runs done; 6.0 runs/min, 30 s left",
        "worker 1: c, 0 s",
        "worker 2: b, 10 s",
    ]


@pytest.mark.parametrize(
    "seconds, words", [(0.4, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7300, "2 h 1 min")]
)
def test_durations_have_two_units(seconds, words):
    assert duration(seconds) == words
