"""The benchmarks still run, and each writes nothing but its own section of the page."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import kubestow

ROOT = Path(kubestow.__file__).parent


@pytest.fixture
def benchmarks(monkeypatch):
    """The package, which is of the checkout and not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    return importlib.import_module("benchmarks")


@pytest.mark.slow
def test_a_small_case_of_every_benchmark_runs(benchmarks):
    specs = benchmarks.load_all()
    page = importlib.import_module("benchmarks.page")
    for spec in specs.values():
        for case in spec.quick:
            row = {**case, **spec.measure(**case), "peak_mb": 1.0}
            heading, rule, *lines = page.table(spec, [row])
            assert lines
            assert {line.count("|") for line in (heading, rule, *lines)} == {len(spec.columns) + 1}


def test_every_case_names_the_arguments_of_a_quick_one(benchmarks):
    for spec in benchmarks.load_all().values():
        assert {frozenset(case) for case in spec.cases} == {frozenset(case) for case in spec.quick}


def test_two_benchmarks_of_one_name_are_refused(benchmarks):
    spec = next(iter(benchmarks.load_all().values()))
    with pytest.raises(ValueError, match=f"two benchmarks are called '{spec.name}'"):
        benchmarks.register(spec)


def test_every_section_of_the_page_is_a_benchmark_s_own(benchmarks):
    text = (ROOT / "docs" / "benchmarks.md").read_text()
    known = benchmarks.load_all()
    names = re.findall(r"<!-- benchmark: (.*) -->", text)
    assert names
    for name in names:
        spec = known[name]
        begin, end = f"<!-- benchmark: {spec.name} -->", f"<!-- end: {spec.name} -->"
        section = text.partition(begin)[2].partition(end)[0]
        assert spec.title in section
        assert f"python -m benchmarks {spec.name} --write" in section


PAGE = """# Page

<!-- benchmark: a -->
old
<!-- end: a -->

<!-- benchmark: b -->
other
<!-- end: b -->
"""


@pytest.mark.parametrize(
    "name, expected",
    [
        pytest.param("a", PAGE.replace("old", "new"), id="a section is replaced where it stands"),
        pytest.param(
            "c",
            PAGE + "\n<!-- benchmark: c -->\nnew\n<!-- end: c -->\n",
            id="a section that is not there yet comes last",
        ),
    ],
)
def test_sections(benchmarks, name, expected):
    page = importlib.import_module("benchmarks.page")
    assert page.replace(PAGE, name, "new") == expected


def test_a_section_without_an_end_is_left_alone(benchmarks):
    page = importlib.import_module("benchmarks.page")
    with pytest.raises(ValueError, match="the section of a has no end marker"):
        page.replace("<!-- benchmark: a -->\nold\n", "a", "new")


def test_the_command_lists_what_there_is(benchmarks):
    command = [sys.executable, "-m", "benchmarks", "--list"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert {line.partition(":")[0] for line in listed.splitlines()} == set(benchmarks.load_all())


def test_an_unknown_name_is_2(benchmarks):
    command = [sys.executable, "-m", "benchmarks", "nothing"]
    refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "no benchmark 'nothing'; there are baseline" in refused.stderr
