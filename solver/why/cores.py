"""Other minimal cores: further sets of rules that keep a pod waiting, each by itself.

Every core but those that are known leaves out one rule of each known one. So rules are chosen, one of each
known core, and given up; if what is left still keeps the pod waiting, a core is in it that is new. All
choices are tried, those of the fewest rules first (R. Reiter, A theory of diagnosis from first principles,
Artificial Intelligence 32, 1987). Each core is minimal by the same test as the first.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from .placeable import Verdict

if TYPE_CHECKING:
    from .core import Core, CoreSearch


class OtherCores(NamedTuple):
    """Cores beside the first, and whether there are no more of them."""

    cores: tuple[Core, ...]
    complete: bool


def other_cores(search: CoreSearch, first: Core, most: int) -> OtherCores:
    """Find up to `most` minimal cores beside the first.

    That there are no more is said only where every question was answered in time, and where to lift a rule
    never makes a pod less placeable.
    """
    found = [first]
    waiting: deque[frozenset[int]] = deque([frozenset()])
    seen, complete = {frozenset[int]()}, search.monotone and bool(first.reasons)
    while waiting and len(found) <= most:
        gone = waiting.popleft()
        core = next((item for item in found if gone.isdisjoint(map(id, item.reasons))), None)
        if core is None:
            if not search.in_time:
                return OtherCores(tuple(found[1:]), complete=False)
            left = [reason for reason in search.reasons if id(reason) not in gone]
            verdict = search.ask(left).verdict
            complete &= verdict is not Verdict.OPEN
            if verdict is not Verdict.NO:
                continue
            core = search.run(left)
            complete &= core.proven
            if not core.proven:
                continue
            found.append(core)
        for reason in core.reasons:
            more = gone | {id(reason)}
            if more not in seen:
                seen.add(more)
                waiting.append(more)
    return OtherCores(tuple(found[1:]), complete=complete and not waiting)
