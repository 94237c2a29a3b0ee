"""Confidence interval of a mean by the percentile bootstrap.

Of n values, n are drawn with replacement, `resamples` times over; the interval runs between the quantiles
(1 ∓ confidence) / 2 of the means of these samples. It says how much the mean hangs on which instances were
in the study, and nothing about instances of another kind. Values that are all equal give an interval without
width.

Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), chapter 13. The generator is seeded
anew for each interval, so that an interval does not depend on which others are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Bootstrap:
    """How intervals are made.

    Attributes
    ----------
    resamples, seed : int
    confidence : float
        Between 0 and 1.
    """

    resamples: int = 2000
    seed: int = 0
    confidence: float = 0.95

    def interval(self, values: Sequence[float]) -> tuple[float, float]:
        """Return both ends of the interval of the mean of at least one value."""
        different, times = np.unique(np.asarray(values, dtype=float), return_counts=True)
        # How often each value is drawn is multinomial, and there are far fewer values than cases.
        n = times.sum()
        drawn = np.random.default_rng(self.seed).multinomial(n, times / n, size=self.resamples)
        means = drawn @ different / n
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(means, [tail, 1 - tail])
        return float(low), float(high)
