"""The table of plugins in docs/plugins.md, as far as the registries say it."""

import sys
from pathlib import Path

from kubestow.framework.plugins import FACTORIES
from kubestow.framework.vocabulary.default_plugins import PLUGINS
from support.paths import ROOT


def rows():
    """Return name, weight and file of each plugin; no file for one that neither filters nor scores."""
    return [
        (entry.name, str(entry.weight) if entry.weight else "–", file_of(entry.name))
        for entry in PLUGINS.values()
    ]


def file_of(name):
    """Return the file that a plugin's class stands in, relative to the repository where it is there."""
    if name not in FACTORIES:
        return None
    path = Path(sys.modules[FACTORIES[name].__module__].__file__).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
