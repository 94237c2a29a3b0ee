"""Taints and tolerations, judged once for each distinct list of taints in the cluster.

Tolerations with the operators Lt and Gt compare whole numbers (KEP-5471) behind a gate; with the gate off,
and where either side is no number of 64 bits, they tolerate nothing.

Sources: component-helpers scheduling/corev1, k8s.io/api/core/v1/toleration.go, kube-scheduler
plugins/tainttoleration.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Final

import numpy as np

from ...models.features import FeatureGates
from ...models.node import Taint
from ...models.pod import Toleration
from ...models.validation.creation.names import decimal_integer

if TYPE_CHECKING:
    from ..vocabulary.arrays import Ints

HARD_EFFECTS: Final = ("NoSchedule", "NoExecute")

COMPARING: Final = "TaintTolerationComparisonOperators"
"""The gate of Lt and Gt."""


def tolerates(toleration: Toleration, taint: Taint, gates: FeatureGates) -> bool:
    """Whether a toleration tolerates a taint; an empty effect or key stands for all of them."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    if toleration.operator in ("Lt", "Gt"):
        return gates.enabled(COMPARING) and _compares(toleration, taint)
    return toleration.operator == "Exists"


def _compares(toleration: Toleration, taint: Taint) -> bool:
    """Whether the taint's value is below (Lt) or above (Gt) the toleration's."""
    if decimal_integer(toleration.value) or decimal_integer(taint.value):
        return False
    there, limit = int(taint.value), int(toleration.value)
    return there < limit if toleration.operator == "Lt" else there > limit


def first_untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], gates: FeatureGates
) -> Taint | None:
    """Return the first NoSchedule or NoExecute taint that nothing tolerates, or None."""
    for taint in taints:
        if taint.effect in HARD_EFFECTS and not any(tolerates(t, taint, gates) for t in tolerations):
            return taint
    return None


def count_soft_untolerated(
    taints: Sequence[Taint], tolerations: Sequence[Toleration], gates: FeatureGates
) -> int:
    """Count the PreferNoSchedule taints that nothing tolerates."""
    able = [t for t in tolerations if t.effect in ("", "PreferNoSchedule")]
    return sum(
        taint.effect == "PreferNoSchedule" and not any(tolerates(t, taint, gates) for t in able)
        for taint in taints
    )


class TaintClasses:
    """The distinct lists of taints in a cluster.

    Attributes
    ----------
    lists : tuple of tuple of Taint
        Each distinct list, in the nodes' own order of taints.
    of_node : int64[N]
        Which list each node has.
    """

    __slots__ = ("_numbers", "lists", "of_node")

    def __init__(self, per_node: Sequence[tuple[Taint, ...]]) -> None:
        self._numbers: dict[tuple[tuple[str, str, str], ...], int] = {}
        self.lists: tuple[tuple[Taint, ...], ...] = ()
        self.of_node: Ints = np.zeros(len(per_node), dtype=np.int64)
        self._set(dict(enumerate(per_node)))

    def exchanged(self, changed: Mapping[int, tuple[Taint, ...]]) -> "TaintClasses":
        """Return the classes with other lists on some nodes; a list that no node has any more may stay."""
        other = copy(self)
        other._set(changed)  # noqa: SLF001 (another of this class)
        return other

    def _set(self, changed: Mapping[int, tuple[Taint, ...]]) -> None:
        numbers, lists, of_node = dict(self._numbers), list(self.lists), self.of_node.copy()
        for n, taints in changed.items():
            number = numbers.setdefault(_key(taints), len(lists))
            if number == len(lists):
                lists.append(taints)
            of_node[n] = number
        self._numbers, self.lists, self.of_node = numbers, tuple(lists), of_node


def _key(taints: tuple[Taint, ...]) -> tuple[tuple[str, str, str], ...]:
    return tuple((taint.key, taint.value, taint.effect) for taint in taints)
