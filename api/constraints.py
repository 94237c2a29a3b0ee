"""A rule of one's own: a filter and an encoder, in force where and while it is registered.

Both schedulers know it then: greedy calls the filter, the model has the encoder's rows, and every plan is
replayed through the filter, so a plan that the encoder admits and the filter rejects is never printed.
What the two have to say is in CONTRIBUTING.md, a worked example in docs/python.md.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..encoders.family import Family
    from ..framework.plugins.base import FilterPlugin


@contextmanager
def constraint(plugin: type[FilterPlugin], family: Family) -> Iterator[None]:
    """Let a rule be in force for the length of a `with` block.

    Parameters
    ----------
    plugin : type of FilterPlugin
        The filter; its `name` is the family's name, and no other plugin's.
    family : Family
        The rows.

    Raises
    ------
    ValueError
        Where the names differ, or are taken.
    """
    from ..encoders import ENCODERS
    from ..framework.plugins import FACTORIES, check_factories
    from ..framework.vocabulary.default_plugins import FILTER, PLUGINS, PRE_FILTER
    from ..framework.vocabulary.registry import PluginEntry

    name = plugin.name
    if name != family.name:
        raise ValueError(f"the filter is called {name} and the family {family.name}: they are one rule")
    if name in PLUGINS:
        raise ValueError(f"there is a plugin {name} already")
    PLUGINS[name] = PluginEntry(name, frozenset({PRE_FILTER, FILTER}), hints=False)
    FACTORIES[name] = plugin
    ENCODERS.append(family)
    try:
        check_factories(PLUGINS, FACTORIES)
        yield
    finally:
        ENCODERS.remove(family)
        del FACTORIES[name], PLUGINS[name]
