"""What PreFilter finds for one class of pods wherever pods are, so that it is asked once."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from ..plugins import FilterPlugin

if TYPE_CHECKING:
    from ..vocabulary.arrays import Bools

Entries = list[tuple[FilterPlugin, Any]]
"""Plugins that filter, in order, each with what its PreFilter found."""

_TO_COME: Final = object()


class Settled:
    """One class of pods.

    Parameters
    ----------
    filters : sequence of FilterPlugin
        The plugins that filter, in order.
    outside : bool[N] or None
        The nodes that are not looked at.
    learnt : mapping
        Data by plugin, of those that find the same wherever pods are.
    moving : list of FilterPlugin
        The plugins that find another thing as pods come and go, in their order.
    """

    __slots__ = ("_filters", "_learnt", "_patterns", "moving", "outside")

    def __init__(
        self,
        filters: Sequence[FilterPlugin],
        outside: "Bools | None",
        learnt: Mapping[str, Any],
        moving: list[FilterPlugin],
    ) -> None:
        self._filters = filters
        self._learnt = learnt
        self._patterns: dict[tuple[str, ...], tuple[Entries, list[int], bool]] = {}
        self.outside = outside
        self.moving = moving

    def with_data(self, found: Mapping[str, Any]) -> tuple[Entries, bool]:
        """Return the entries of a cycle, and whether any of the plugins is asked in its turn only.

        Parameters
        ----------
        found : mapping
            Data by plugin, of those of `moving` that did not skip.
        """
        names = tuple(found)
        pattern = self._patterns.get(names)
        if pattern is None:
            pattern = self._patterns[names] = self._pattern(names)
        entries, places, in_turn = pattern
        if places:
            entries = entries.copy()
            for k in places:
                plugin = entries[k][0]
                entries[k] = (plugin, found[plugin.name])
        return entries, in_turn

    def _pattern(self, names: tuple[str, ...]) -> tuple[Entries, list[int], bool]:
        """Return the entries without the data to come, the places of these, and what `with_data` says."""
        learnt = {**self._learnt, **dict.fromkeys(names, _TO_COME)}
        entries = [(plugin, learnt[plugin.name]) for plugin in self._filters if plugin.name in learnt]
        places = [k for k, (_, data) in enumerate(entries) if data is _TO_COME]
        return entries, places, any(plugin.in_turn for plugin, _ in entries)
