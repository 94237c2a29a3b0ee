"""Runs the cases of a benchmark one after another, each in a fresh process."""

import multiprocessing
import os
import resource
from collections.abc import Iterator
from typing import Any

from . import load_all
from .registry import BenchSpec, Case


def run(spec: BenchSpec, *, quick: bool = False) -> Iterator[dict[str, Any]]:
    """Measure the cases of a benchmark and return their rows, each when it is done.

    A process of its own gives every case its own peak memory and no warm caches.
    """
    context = multiprocessing.get_context("spawn")
    for case in spec.quick if quick else spec.cases:
        with context.Pool(1) as pool:
            yield pool.apply(_measure, (spec.name, dict(case)))


def _measure(name: str, case: Case) -> dict[str, Any]:
    row = load_all()[name].measure(**case)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # Linux counts in KiB
    return {**case, **row, "peak_mb": peak}


def resident_mb() -> float:
    """Return the memory of this process now, in MiB (Linux)."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
