"""What is known of a round while its parts are searched."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..options import Progress


class News:
    """Values and bounds of every tier while parts are searched: the sums of those that the parts report."""

    def __init__(self, names: Sequence[str], base: Mapping[str, int], parts: int) -> None:
        self._base = base
        self._parts = parts
        self._incumbents: dict[str, dict[int, int]] = {name: {} for name in names}
        self._bounds: dict[str, dict[int, int]] = {name: {} for name in names}

    def of(self, part: int, news: Progress) -> Progress:
        """Record a part's progress and return that of the round."""
        if news.incumbent is not None:
            self._incumbents[news.tier][part] = news.incumbent
        if news.bound is not None:
            self._bounds[news.tier][part] = news.bound
        return replace(
            news,
            incumbent=self._sum(news.tier, self._incumbents),
            bound=self._sum(news.tier, self._bounds),
        )

    def done(self, part: int, values: Mapping[str, int], bounds: Mapping[str, int]) -> None:
        """Record a part's result: each tier's value and bound."""
        for name in self._incumbents:
            self._incumbents[name][part] = values[name]
            self._bounds[name][part] = bounds[name]

    def _sum(self, tier: str, known: Mapping[str, Mapping[int, int]]) -> int | None:
        base, told = self._base[tier], known[tier]
        return base + sum(v - base for v in told.values()) if len(told) == self._parts else None
