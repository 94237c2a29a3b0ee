"""The table of plugins in docs/plugins.md: names, order, weights and files are those of the registries.

The reasons of a plugin are prose and stay as the page has them. Run as a module it brings the table up to
date:

    PYTHONPATH=tests python -m support.plugin_table --write
"""

import re
import sys
from pathlib import Path

from kubestow.framework.cycle import cycle, preemption
from kubestow.framework.index import queue_order
from kubestow.framework.plugins import FACTORIES, scheduling_gates
from kubestow.framework.vocabulary import names
from kubestow.framework.vocabulary.default_plugins import PLUGINS
from support.marked_page import command, replaced
from support.paths import ROOT

PAGE = ROOT / "docs" / "plugins.md"
MARK = "plugins"
NONE = "–"
HEAD = "| plugin | weight | rejects with | file |\n|---|---|---|---|\n"

ELSEWHERE = {
    names.SCHEDULING_GATES: scheduling_gates,
    names.PRIORITY_SORT: queue_order,
    names.DEFAULT_PREEMPTION: preemption,
    names.DEFAULT_BINDER: cycle,
}
"""Modules of the plugins that neither filter nor score."""


def rows():
    """Return name, weight and file of each plugin, in the order of the registry."""
    return [
        (entry.name, str(entry.weight) if entry.weight else NONE, file_of(entry.name))
        for entry in PLUGINS.values()
    ]


def file_of(name):
    """Return the file of a plugin, relative to the repository where it is inside."""
    module = sys.modules[FACTORIES[name].__module__] if name in FACTORIES else ELSEWHERE[name]
    path = Path(module.__file__).resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def reasons(page):
    """Return what each plugin rejects with, as a page has it."""
    table = page.split(HEAD)[1].partition("\n\n")[0]
    return dict(re.findall(r"^\| (\w+) \| [^|]* \| (.*) \| [^|]* \|$", table, flags=re.MULTILINE))


def current(page):
    """Return the page with its table up to date; a new plugin has no reasons yet."""
    known = reasons(page)
    lines = [f"| {name} | {weight} | {known.get(name, NONE)} | `{file}` |\n" for name, weight, file in rows()]
    return replaced(page, MARK, HEAD + "".join(lines))


if __name__ == "__main__":
    command(PAGE, __doc__.partition("\n")[0], current)
