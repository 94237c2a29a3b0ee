"""Bundled node groups: one YAML file each, for the worked examples of docs/provision.md."""

from importlib.resources import files
from pathlib import Path
from typing import Final

NAMES: Final = ("three-sizes",)
"""All of them."""


def locate(argument: str) -> str:
    """Return what to read for node groups named on the command line: a bundled file, or what was named."""
    if argument not in NAMES or Path(argument).exists():
        return argument
    return str(Path(str(files(__package__).joinpath(f"{argument}.yaml"))))
