"""What is measured, and how it gets into docs/benchmarks.md: `python -m benchmarks --help`.

A benchmark is a file of this folder that registers one `BenchSpec` or more when it is imported; nothing else
has to be told about it.
"""

import importlib
import pkgutil

from .registry import SPECS, BenchSpec, Column, register

__all__ = ["SPECS", "BenchSpec", "Column", "load_all", "register"]


def load_all() -> dict[str, BenchSpec]:
    """Import every file of the folder and return all that is registered, by name."""
    for module in pkgutil.iter_modules(__path__):
        if module.name != "__main__":
            importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(SPECS.items()))
