"""Which pods count for a rule: one number for each class of pods that rules cannot tell apart.

Counting pods per node for a selector is what PodTopologySpread, InterPodAffinity and NodePorts have in
common. A `Matcher` says how much each pod counts, by *count class*: pods with equal namespace, labels,
affinity terms and host ports. `framework.state.state.State` keeps the sums per node up to date for every
matcher in use.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...models.selectors import CompiledSelector
from ..vocabulary.arrays import Bools, Ints


class LabelClass(NamedTuple):
    """What selectors see of a pod."""

    namespace: str
    labels: Mapping[str, str]


class Matcher:
    """How much a pod of each count class counts.

    Attributes
    ----------
    number : int
        The matcher's place in its index.
    weights : int64[U]
        By count class; 0 where the pod does not count.
    """

    __slots__ = ("number", "weights")

    def __init__(self, number: int, weights: Ints) -> None:
        self.number = number
        self.weights = weights


class MatcherIndex:
    """All matchers of one cluster, made when first asked for and shared by equal questions.

    Parameters
    ----------
    label_classes : sequence of LabelClass
        The distinct pairs of namespace and labels.
    unit_labels : int[U]
        The label class of each count class.
    """

    def __init__(self, label_classes: Sequence[LabelClass], unit_labels: Ints) -> None:
        self.label_classes = label_classes
        self._unit_labels = unit_labels
        self._matchers: dict[Hashable, Matcher] = {}
        self._masks: dict[tuple[frozenset[str] | None, CompiledSelector], Bools] = {}
        self._in_namespace: dict[str, list[int]] = {}
        self._with_label: dict[tuple[str, str], list[int]] = {}
        for c, (namespace, labels) in enumerate(label_classes):
            self._in_namespace.setdefault(namespace, []).append(c)
            for pair in labels.items():
                self._with_label.setdefault(pair, []).append(c)

    def get(self, key: Hashable, weigh: Callable[[], Ints]) -> Matcher:
        """Return the matcher of a question, made from `weigh()` (int64[U]) the first time."""
        matcher = self._matchers.get(key)
        if matcher is None:
            matcher = self._matchers[key] = Matcher(len(self._matchers), weigh())
        return matcher

    def made(self, key: Hashable, weights: Ints) -> Matcher:
        """Return the matcher of a question whose weights (int64[U]) are already known."""
        return self.get(key, lambda: weights)

    def pods(self, namespaces: frozenset[str] | None, selector: CompiledSelector) -> Matcher:
        """Return the matcher of the pods that a selector selects in some namespaces (None: in all)."""
        return self.all_of(((namespaces, selector),))

    def all_of(self, terms: Iterable[tuple[frozenset[str] | None, CompiledSelector]]) -> Matcher:
        """Return the matcher of the pods that satisfy every one of some (namespaces, selector) pairs."""
        key = tuple(dict.fromkeys(terms))

        def weigh() -> Ints:
            mask = np.ones(len(self.label_classes), dtype=np.bool_)
            for term in key:
                mask &= self.label_mask(*term)
            return mask[self._unit_labels].astype(np.int64)

        return self.get(key, weigh)

    def label_mask(self, namespaces: frozenset[str] | None, selector: CompiledSelector) -> Bools:
        """Return the label classes selected in some namespaces (None: in all); bool[L], shared."""
        mask = self._masks.get((namespaces, selector))
        if mask is None:
            mask = np.zeros(len(self.label_classes), dtype=np.bool_)
            for c in self._candidates(namespaces, selector):
                namespace, labels = self.label_classes[c]
                mask[c] = (namespaces is None or namespace in namespaces) and selector.matches(labels)
            self._masks[namespaces, selector] = mask
        return mask

    def _candidates(self, namespaces: frozenset[str] | None, selector: CompiledSelector) -> Iterable[int]:
        """Return a superset of the label classes that can match, small where an `In` requirement helps."""
        best: list[int] | None = None
        for item in selector.requirements:
            if item.operator == "In":
                found = [c for value in item.values for c in self._with_label.get((item.key, value), ())]
                if best is None or len(found) < len(best):
                    best = found
        if best is None and namespaces is not None:
            best = [c for name in namespaces for c in self._in_namespace.get(name, ())]
        return range(len(self.label_classes)) if best is None else best
