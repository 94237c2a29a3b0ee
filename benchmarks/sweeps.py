"""The sweeps of the test suite in full, of which a run of the suite takes a sample."""

import re
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

from .registry import BenchSpec, Column, register

TESTS = Path(__file__).parents[1] / "tests"


def swept() -> list[str]:
    """Return the files of tests that have a sweep, in order."""
    files = sorted(TESTS.rglob("test_*.py"))
    return [str(file.relative_to(TESTS)) for file in files if "few_or_all(" in file.read_text()]


def measure(file: str) -> dict[str, Any]:
    """Run the tests of one file, all rounds of each.

    Raises
    ------
    RuntimeError
        With the end of pytest's words, where a test fails.
    """
    command = [sys.executable, "-m", "pytest", "--sweep", "-q", "-n", "0", f"tests/{file}"]
    before = _processor()
    run = subprocess.run(command, cwd=TESTS.parent, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stdout[-2000:] + run.stderr[-2000:])
    passed = re.search(r"(\d+) passed", run.stdout)
    return {"passed": int(passed.group(1)) if passed else 0, "processor": _processor() - before}


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


SWEEPS = register(
    BenchSpec(
        name="sweeps",
        title="Sweeps of the test suite",
        about="""
The files of tests that solve many seeded rounds, with all of them: a run of the suite takes a fixed sample
of each sweep. A file in which a test fails ends the run with pytest's own words. Processor time is that of
pytest and of what it starts.""",
        cases=tuple({"file": file} for file in swept()),
        quick=({"file": "promises/test_affinity.py"},),
        measure=measure,
        columns=(
            Column("file", "{file}"),
            Column("tests passed", "{passed:,}"),
            Column("processor, s", "{processor:.1f}"),
        ),
    )
)
