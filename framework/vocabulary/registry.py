"""Registries of plugins: one entry a plugin, and what else goes by its name must agree with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class RegistryError(Exception):
    """A plugin is registered in part, twice, or under a name that is not known."""


class PluginEntry(NamedTuple):
    """A plugin of the default profile.

    Attributes
    ----------
    name : str
        kube-scheduler's name.
    points : frozenset of str
        The extension points that it implements.
    hints : bool
        Whether it says what a pod that it rejected waits for; without hints any event ends the wait.
    weight : int
        The default weight of its score; 0 for "no weight given".
    stateless : frozenset of str
        The points at which it works out by itself what it did not learn in PreFilter or PreScore; at the
        others it fails.
    idle : frozenset of str
        The points at which it is called and has nothing to say as long as upstream's feature gates are at
        their defaults.
    gate : str or None
        The feature gate without which the plugin is not among the defaults.
    """

    name: str
    points: frozenset[str]
    hints: bool
    weight: int = 0
    stateless: frozenset[str] = frozenset()
    idle: frozenset[str] = frozenset()
    gate: str | None = None


class Named(Protocol):
    """Whatever is registered under its own name."""

    @property
    def name(self) -> str:
        """The name."""


N = TypeVar("N", bound=Named)


def by_name(table: str, items: Iterable[N]) -> dict[str, N]:
    """Return items by name, in their order.

    Raises
    ------
    RegistryError
        Where a name is there twice.
    """
    found: dict[str, N] = {}
    for item in items:
        if item.name in found:
            raise RegistryError(f"{table}: {item.name} is there twice; once is enough")
        found[item.name] = item
    return found


def check_points(entries: Iterable[PluginEntry], points: Sequence[str]) -> None:
    """Check that each plugin has an extension point, and none that is not there.

    Raises
    ------
    RegistryError
        With the first plugin that would never be called.
    """
    known = frozenset(points)
    for entry in entries:
        if not entry.points or not (entry.points | entry.stateless | entry.idle) <= known:
            named = ", ".join(sorted(entry.points | entry.stateless | entry.idle)) or "none"
            all_points = ", ".join(points)
            raise RegistryError(
                f"PLUGINS: {entry.name}: the extension points are {named}; known are {all_points}"
            )


def agree(table: str, registered: Iterable[str], entries: Iterable[str], because: str) -> None:
    """Check that a table holds the plugins that it must hold, and no others.

    Raises
    ------
    RegistryError
        With the first plugin that is missing or too many; `because` says which entries belong there.
    """
    there, wanted = dict.fromkeys(registered), dict.fromkeys(entries)
    for name in wanted:
        if name not in there:
            raise RegistryError(f"{table}: {name} is missing; its entry in PLUGINS {because}")
    for name in there:
        if name not in wanted:
            raise RegistryError(f"{table}: {name} is there, but no entry in PLUGINS of that name {because}")
