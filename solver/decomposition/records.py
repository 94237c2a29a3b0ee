"""The record of a round that was searched by its parts: what the parts knew, added up moment by moment.

Values and bounds add up as they do in the end (`search`): the parts' bounds of a tier only while every part
has proven the tiers above; otherwise the bounds that hold of every plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...models.search_point import SearchPoint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..plans.objective import TierValue


@dataclass(frozen=True)
class PartRecord:
    """What a part knew.

    Attributes
    ----------
    points : sequence of SearchPoint
        In seconds of the round.
    before : mapping
        Tier to the value that was known before the part was searched.
    always : mapping
        Tier to the bound that holds of every plan.
    """

    points: Sequence[SearchPoint]
    before: Mapping[str, int]
    always: Mapping[str, int]


def added_up(base: Sequence[TierValue], parts: Sequence[PartRecord]) -> list[SearchPoint]:
    """Return the points of the round.

    Parameters
    ----------
    base : sequence of TierValue
        The tiers without any plan, as valued for the whole round; each part's values have that in them.
    parts : sequence of PartRecord
    """
    sums = {tier.name: _Sum(tier, parts) for tier in base}
    moments = sorted(
        (
            (point.seconds, k, number)
            for k, part in enumerate(parts)
            for number, point in enumerate(part.points)
        ),
    )
    found: list[SearchPoint] = []
    for place, (seconds, k, number) in enumerate(moments):
        point = parts[k].points[number]
        sums[point.tier].move(k, point)
        if place + 1 < len(moments) and moments[place + 1][0] == seconds:
            continue
        proven_above = True
        for tier in sums.values():
            value, bound = tier.now(proven_above)
            proven_above &= tier.proven
            if tier.told != (value, bound):
                tier.told = value, bound
                found.append(SearchPoint(seconds=seconds, tier=tier.name, value=value, bound=bound))
    return found


class _Sum:
    """One tier, added up over the parts.

    Attributes
    ----------
    told : tuple or None
        The last value and bound of the round.
    """

    def __init__(self, base: TierValue, parts: Sequence[PartRecord]) -> None:
        self.name, self._sense, self._base = base.name, base.sense, base.value
        self._always = [part.always[self.name] for part in parts]
        self._values = [part.before[self.name] for part in parts]
        self._bounds = list(self._always)
        self._value, self._bound, self._least = sum(self._values), sum(self._bounds), sum(self._always)
        self._open = sum(v != b for v, b in zip(self._values, self._bounds, strict=True))
        self.told: tuple[int, int] | None = None

    def move(self, k: int, point: SearchPoint) -> None:
        """Take over what a part knows from now on."""
        bound = self._always[k] if point.bound is None else point.bound
        self._value += point.value - self._values[k]
        self._bound += bound - self._bounds[k]
        self._open += (point.value != bound) - (self._values[k] != self._bounds[k])
        self._values[k], self._bounds[k] = point.value, bound

    @property
    def proven(self) -> bool:
        """Whether every part attains its bound."""
        return not self._open

    def now(self, proven_above: bool) -> tuple[int, int]:
        """Return the round's value, and its bound."""
        surplus = self._base * (len(self._values) - 1)
        bound = (self._bound if proven_above else self._least) - surplus
        return self._value - surplus, bound if self._sense == "max" else max(0, bound)
