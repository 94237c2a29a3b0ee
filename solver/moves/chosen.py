"""Which nodes are to be drained: by name, by their labels, or all."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ...models.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection

    from ...models.selectors import CompiledSelector
    from ...models.snapshot import Snapshot


def chosen_nodes(
    snapshot: Snapshot, names: Collection[str], selector: CompiledSelector | None, *, every: bool = False
) -> tuple[str, ...]:
    """Return the names of nodes, in the order of the input.

    Raises
    ------
    InputError
        For a name that no node has, or labels that none has.
    """
    known = [node.name for node in snapshot.nodes]
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise InputError(snapshot.name, f"Node {name}", "", f"there is no such node{hint}")
    found = tuple(
        node.name
        for node in snapshot.nodes
        if every or node.name in names or (selector is not None and selector.matches(node.metadata.labels))
    )
    if not found:
        raise InputError(snapshot.name, "", "", "no node has these labels")
    return found
