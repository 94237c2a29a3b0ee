"""What a benchmark says about itself."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Case = Mapping[str, Any]
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a benchmark's table.

    Attributes
    ----------
    heading : str
    cell : str
        How a row is written there, as `str.format` has it, from the case and from what was measured:
        `"{nodes:,}"`. `peak_mb` is always among them, the peak memory of the case's process.
    """

    heading: str
    cell: str


@dataclass(frozen=True, slots=True)
class BenchSpec:
    """One benchmark: a table with a row for each case, and a section of docs/benchmarks.md.

    Attributes
    ----------
    name : str
        Of the section's markers, and on the command line.
    title : str
    about : str
        What is measured on what, and how to read it, in Markdown.
    cases : tuple of mapping
        The arguments of `measure`, row by row.
    quick : tuple of mapping
        Cases that take a second or so together, by which tests see that the benchmark still runs.
    measure : callable
        Runs one case in a process of its own and returns what was measured; a function of a module of
        `benchmarks`, so that the other process finds it.
    columns : tuple of Column
    fold : callable, optional
        Makes the table's rows of the measured ones, where a table of every case would be too long.
    draw : callable, optional
        Draws a picture of the measured rows into a file, which the section then shows.
    """

    name: str
    title: str
    about: str
    cases: tuple[Case, ...]
    quick: tuple[Case, ...]
    measure: Callable[..., Row]
    columns: tuple[Column, ...]
    fold: Callable[[Sequence[Row]], Sequence[Row]] | None = None
    draw: Callable[[Sequence[Row], Path], None] | None = None


SPECS: Final[dict[str, BenchSpec]] = {}


def register(spec: BenchSpec) -> BenchSpec:
    """Make a benchmark known."""
    if spec.name in SPECS:
        raise ValueError(f"two benchmarks are called {spec.name!r}")
    SPECS[spec.name] = spec
    return spec
