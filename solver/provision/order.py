"""What an order of the cluster autoscaler's estimator is made of: options, limits, and the order of pods."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...framework.vocabulary.arrays import Ints
    from ...models.purchases import Catalogue
    from .trial import Counts

    Floats = npt.NDArray[np.float64]

Placed = Mapping[str, Hashable]
"""Where pods that waited are: pod -> node, as an engine names it."""

# Decimals to which the sizes of pods are told apart.
_DECIMALS: Final = 12


@dataclass(frozen=True)
class Option:
    """Nodes of an offer that are ordered together.

    Attributes
    ----------
    counts : tuple of int
        All that is ordered then.
    nodes : int
        How many are new.
    pods : mapping
        The pods on these.
    waste : float
        The share of their cpu and memory that no pod requests.
    """

    offer: int
    counts: Counts
    nodes: int
    pods: Placed
    waste: float


@dataclass(frozen=True)
class Limits:
    """What may be ordered; `budget` is the most in millionths, None for any."""

    catalogue: Catalogue
    budget: int | None

    def allowed(self, offer: int, counts: Counts, wanted: int) -> int:
        """Return the most nodes of an offer, up to those wanted, that limits and money allow."""
        if not self.bind:
            return wanted
        for n in range(wanted, counts[offer], -1):
            now = (*counts[:offer], n, *counts[offer + 1 :])
            affordable = self.budget is None or self.catalogue.price(now) <= self.budget
            if affordable and self.catalogue.allows(now):
                return n
        return counts[offer]

    @cached_property
    def bind(self) -> bool:
        """Whether there are any, so that offers whose nodes are alike differ."""
        limits = self.catalogue.limits
        return (
            self.budget is not None
            or any(offer.stock is not None for offer in self.catalogue.offers)
            or any(each.least or each.most is not None for each in limits)
        )


def decreasing(pods: Ints, priorities: Ints, usage: Floats, whole: Floats) -> Ints:
    """Order pods by importance, the larger first: by the sum of the shares of what they ask for.

    Parameters
    ----------
    pods : int array (P,)
        Numbers, by which pods that are equal are ordered.
    priorities : int array (P,)
    usage : float array (P, R)
    whole : float array (R,)
        What all nodes have of each resource.
    """
    sizes = np.round((usage / np.maximum(whole, 1.0)).sum(axis=1), _DECIMALS)
    return np.asarray(pods[np.lexsort((pods, -sizes, -priorities))])
