"""Limits on what a round may evict: how many pods, how many against their budgets, and which ones never.

A limit is a rule of the round, for both schedulers: a plan that breaks one is no plan. What it means beside
the rules of Kubernetes is in docs/model.md, "Limits on evictions".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .errors import KubestowError
from .plan import Limits, Plan
from .selector_text import parse_selector
from .selectors import CompiledSelector
from .validation.creation.names import label_name


@dataclass(frozen=True)
class PodSelector:
    """Pods by their labels, in one namespace or in all.

    Attributes
    ----------
    labels : str
        A selector as kubectl's `-l` takes it; empty for every pod.
    namespace : str
        Empty for all namespaces.
    """

    labels: str
    namespace: str = ""

    @classmethod
    def parse(cls, text: str) -> PodSelector:
        """Read `SELECTOR`, `NAMESPACE:SELECTOR` or `NAMESPACE:`; no label has a colon.

        Raises
        ------
        ValueError
            If it is none; the message says what would be right.
        """
        namespace, colon, labels = text.rpartition(":")
        if colon and (wrong := label_name(namespace)):
            raise ValueError(f"a namespace {wrong}")
        if not colon and not labels.strip():
            raise ValueError("it is empty: name labels, such as app=db, or a namespace, such as kube-system:")
        found = cls(labels.strip(), namespace)
        _ = found._compiled  # what is wrong with it is told now
        return found

    @cached_property
    def _compiled(self) -> CompiledSelector:
        return parse_selector(self.labels)

    def matches(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod is selected."""
        return self.namespace in ("", namespace) and self._compiled.matches(labels)

    def __str__(self) -> str:
        """Return the text that `parse` reads."""
        return f"{self.namespace}:{self.labels}" if self.namespace else self.labels


@dataclass(frozen=True)
class EvictionLimits:
    """What a round may evict at most; false where there is no limit.

    Attributes
    ----------
    evictions : int or None
        Pods that are evicted; those that terminate in the input already do not count.
    violations : int or None
        Pods that are evicted although a budget of theirs has nothing left.
    never : tuple of PodSelector
        Pods that stay, together with the groups that are evicted whole with them.
    """

    evictions: int | None = None
    violations: int | None = None
    never: tuple[PodSelector, ...] = ()

    @classmethod
    def of(cls, plan: Plan) -> EvictionLimits:
        """Return the limits that a plan was made within.

        Raises
        ------
        KubestowError
            If it names pods in a way that cannot be read.
        """
        if plan.limits is None:
            return cls()
        try:
            return cls.of_words(plan.limits)
        except ValueError as error:
            raise KubestowError(f"{plan.instance}: limits.neverEvict: {error}") from None

    def words(self) -> Limits | None:
        """Write the limits as documents have them; None where there are none."""
        if not self:
            return None
        never = tuple(str(pods) for pods in self.never)
        return Limits(max_evictions=self.evictions, max_violations=self.violations, never_evict=never)

    @classmethod
    def of_words(cls, limits: Limits) -> EvictionLimits:
        """Return the limits that a document states.

        Raises
        ------
        ValueError
            If it names pods in a way that cannot be read.
        """
        never = tuple(map(PodSelector.parse, limits.never_evict))
        return cls(limits.max_evictions, limits.max_violations, never)

    def __bool__(self) -> bool:
        """Whether there is any limit."""
        return self != EvictionLimits()

    def spares(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether a pod is never evicted."""
        return self.evictions == 0 or any(pods.matches(namespace, labels) for pods in self.never)
