"""A step: one item of the menu of changes, and what is known of it without a search."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..why.reasons.base import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from fractions import Fraction

    from ...framework.index.podinfo import PodInfo
    from ...models.changes import Change
    from ...models.snapshot import Snapshot
    from ...models.step_costs import StepCosts
    from ..why.reasons import Subject
    from ..why.reasons.base import Lift


@dataclass(frozen=True, kw_only=True, eq=False)
class Step:
    """One change.

    Attributes
    ----------
    kind : str
        What sort of step it is, by which it is priced (`models.step_costs`).
    object : str
        Whose field changes: kind and name of the object.
    text : str
        What changes, in words.
    cost : int
    series : str
        What is changed: of the steps of one series at most one is taken, and each takes its rule further than
        those before it.
    level : int
        The place in the series, from 1 on.
    own : bool
        Whether nothing but the subject's own rules change: plans that leave it out stay what they are.
    lift : function or None
        From the round to the changed round, where fields of objects change.
    change : Change or None
        The change itself, where something else does.
    counts : bool
        Whether the step may also take something away from a pod: it changes what a spread constraint, an
        affinity term or a budget counts.
    counts_for_it : bool
        Whether it may do so to the subject, as far as other pods that wait are left out of it.
    request : Request or None
        What a lowered request can be, between the least and what it is.
    """

    kind: str
    object: str
    text: str
    cost: int
    series: str
    level: int = 1
    own: bool = False
    lift: Lift | None = None
    change: Change | None = None
    counts: bool = False
    counts_for_it: bool = False
    request: Request | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Request:
    """A request that can be lowered.

    Attributes
    ----------
    pod : int
        One of the pods that ask for it.
    resource : str
    unit : Fraction
        The grid on which amounts are tried, in cores or bytes.
    least, most : int
        In units: the least that is left of it, and the largest amount that is smaller than what it is.
    """

    pod: int
    resource: str
    unit: Fraction
    least: int
    most: int


@dataclass(frozen=True, eq=False)
class Profile:
    """A set of steps by series: how far each rule is taken, 0 where it stays."""

    levels: Mapping[str, int]

    @classmethod
    def of(cls, steps: Iterable[Step]) -> Profile:
        """Return the profile of a set of steps."""
        return cls({step.series: step.level for step in steps})

    def goes_further(self, other: Profile, exact: Collection[str]) -> bool:
        """Whether no rule is taken less far than in another set, and those of some series just as far."""
        series = self.levels.keys() | other.levels.keys()
        return all(
            self.level(name) == other.level(name) if name in exact else self.level(name) >= other.level(name)
            for name in series
        )

    def level(self, series: str) -> int:
        """Return how far a rule is taken."""
        return self.levels.get(series, 0)


@dataclass(frozen=True, eq=False)
class Menu:
    """All steps that can be taken, by series and level."""

    steps: tuple[Step, ...]

    def all_of(self, series: Collection[str] | None = None) -> tuple[Step, ...]:
        """Return the last step of each series, or of some."""
        last = {step.series: step for step in self.steps}
        return tuple(step for name, step in last.items() if series is None or name in series)

    @property
    def series(self) -> dict[str, Step]:
        """One step of each series: all of a series are alike in what they touch."""
        return {step.series: step for step in self.steps}


@dataclass(frozen=True, eq=False)
class Asked:
    """What a menu is made from.

    Attributes
    ----------
    snapshot : Snapshot
    subject : Subject
    costs : StepCosts
    node_groups : tuple of str
        Names of the groups of which nodes can be added; none for copies of nodes of the input.
    movable : frozenset of str
        Keys of the running pods that may be evicted.
    """

    snapshot: Snapshot
    subject: Subject
    costs: StepCosts
    node_groups: tuple[str, ...] = ()
    movable: frozenset[str] = frozenset()

    @property
    def where(self) -> str:
        """The subject as steps name it."""
        return self.subject.name

    def like(self, info: PodInfo) -> str:
        """Name the pods of one class."""
        pods = sorted(self.subject.like(info))
        return f"Pod {listed(pods)}"

    def levels(self, template: Step, cost: int, texts: Sequence[tuple[str, Lift]]) -> Iterator[Step]:
        """Yield the steps of a series, each dearer than the one before by the same cost."""
        for level, (text, lift) in enumerate(texts, start=1):
            yield replace(template, cost=cost * level, level=level, text=text, lift=lift)
