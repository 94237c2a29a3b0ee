"""Runs the cases of a benchmark one after another, each in a fresh process."""

import json
import multiprocessing
import os
import resource
import signal
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final

from . import load_all
from .registry import BenchSpec, Case

RESULTS: Final = Path(__file__).resolve().parent / "results"
"""Where the rows of a full run are kept, one file a benchmark, so that it may be taken up again."""


def run(spec: BenchSpec, *, quick: bool = False, resume: bool = False) -> Iterator[dict[str, Any]]:
    """Measure the cases of a benchmark and return their rows, each when it is done.

    A process of its own gives every case its own peak memory and no warm caches. With `resume` the cases
    that an earlier run has measured are not measured again.
    """
    if quick:
        for case in spec.quick:
            yield _apart(spec, case)
        return
    RESULTS.mkdir(exist_ok=True)
    file = RESULTS / f"{spec.name}.jsonl"
    kept = kept_rows(spec) if resume else {}
    if not resume:
        file.unlink(missing_ok=True)
    for case in spec.cases:
        row = kept.get(_key(case))
        if row is None:
            row = _apart(spec, case)
            with file.open("a") as stream:
                stream.write(json.dumps({"case": _key(case), "row": row}) + "\n")
        yield row


def kept_rows(spec: BenchSpec) -> dict[str, dict[str, Any]]:
    """Return what earlier runs have measured, by case."""
    file = RESULTS / f"{spec.name}.jsonl"
    if not file.exists():
        return {}
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {line["case"]: line["row"] for line in lines}


def rows_so_far(spec: BenchSpec) -> list[dict[str, Any]]:
    """Return the rows that are kept of the benchmark's cases, in their order."""
    kept = kept_rows(spec)
    return [kept[_key(case)] for case in spec.cases if _key(case) in kept]


def _key(case: Case) -> str:
    return json.dumps(case, sort_keys=True)


def _apart(spec: BenchSpec, case: Case) -> dict[str, Any]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    # not of a pool: processes of a pool may not start others, as a search of independent parts does
    process = context.Process(target=_serve, args=(theirs, spec.name, dict(case)))
    process.start()
    theirs.close()
    try:
        told = ours.recv()
    except EOFError:
        process.join()
        raise RuntimeError(f"{spec.name} {_key(case)} ended with code {process.exitcode}") from None
    except KeyboardInterrupt:
        if process.is_alive():
            os.kill(process.pid or 0, signal.SIGINT)  # so that it stops its own processes, too
        process.join()
        raise
    process.join()
    if isinstance(told, str):
        raise RuntimeError(f"{spec.name} {_key(case)} failed:\n{told}")
    row: dict[str, Any] = told
    return row


def _serve(connection: Connection, name: str, case: Case) -> None:
    try:
        row = load_all()[name].measure(**case)
    except Exception:
        connection.send(traceback.format_exc())
        return
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
    connection.send({**case, **row, "peak_mb": peak})


def resident_mb() -> float:
    """Return the memory of this process now, in MiB (Linux)."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
