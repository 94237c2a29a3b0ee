"""Cover the edges of a conflict graph by cliques: one row for all members instead of one for each pair."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def cliques(pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return cliques that together hold every pair, each pair of a clique being one of the pairs.

    Greedy: an edge that is not covered yet grows to a maximal clique, over uncovered edges first. "At most
    one of a clique" is equivalent to "not both of a pair", in fewer rows and with a tighter relaxation.
    """
    beside: dict[int, set[int]] = {}
    edges: dict[tuple[int, int], None] = {}
    for a, b in pairs:
        beside.setdefault(a, set()).add(b)
        beside.setdefault(b, set()).add(a)
        edges[min(a, b), max(a, b)] = None
    found: list[list[int]] = []
    while edges:
        first, second = next(iter(edges))
        members = [first, second]
        common = beside[first] & beside[second]
        while common:
            best = min(common, key=lambda c: (-sum((min(c, m), max(c, m)) in edges for m in members), c))
            members.append(best)
            common &= beside[best]
        for k, a in enumerate(members):
            for b in members[k + 1 :]:
                edges.pop((min(a, b), max(a, b)), None)
        found.append(sorted(members))
    return found
