"""A minimal core of reasons: rules that together keep a pod waiting, none of which is needless.

A set of reasons is a core if no admissible plan places the pod while they stand, all other reasons being
lifted. It is minimal if lifting any one of them, the others standing, makes the pod placeable. Reasons are
given up one after another as long as what is left is a core. Lifting a rule may also make a pod *less*
placeable (a node that a selector kept out now takes part in a spread constraint's count), so each reason that
is left is asked about once more in the end, against the core as it is then. Its witness is the plan
of the round in which it alone is lifted, if there is one, else that of the round in which all that is not in
the core is lifted as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from .clock import Clock
from .placeable import Verdict, placeable
from .reasons import lifted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from ...framework.index.cluster import Cluster
    from ...models.snapshot import Snapshot
    from ..options import SolveOptions
    from .placeable import Answer
    from .reasons import Reason


class Witness(NamedTuple):
    """The answer to a round without one reason of a core, and whether all others stand there.

    Otherwise only those of the core do.
    """

    answer: Answer
    alone: bool


COUNTING_DOMAINS = ("topologySpread", "podAffinity", "terminating")
"""Kinds of reasons of rounds in which a rule that is lifted may make a pod less placeable."""


@dataclass(frozen=True, eq=False)
class Core:
    """What keeps a pod waiting.

    Attributes
    ----------
    reasons : tuple of Reason
        The core; empty where no plan places the pod although every listed reason is lifted.
    witnesses : tuple of Witness
        For each reason, the plan without it.
    proven : bool
        Whether it is proven that the core keeps the pod waiting, and that each removal places it.
    asked : int
        How many rounds were solved.
    """

    reasons: tuple[Reason, ...]
    witnesses: tuple[Witness, ...]
    proven: bool
    asked: int


def find_core(
    snapshot: Snapshot,
    reasons: Sequence[Reason],
    options: SolveOptions,
    start: Collection[Reason] | None = None,
    like: Cluster | None = None,
) -> Core:
    """Find a minimal core for the pods that `Snapshot.asked` names, which no plan places.

    Parameters
    ----------
    reasons : sequence of Reason
        All of them, in the order in which they are given up.
    start : collection of Reason, optional
        A core that is known already by proof, to be made smaller.
    like : Cluster, optional
        The index of the round.
    """
    return CoreSearch(snapshot, reasons, options, like).first(start)


class CoreSearch:
    """The questions about one round without some of its reasons, each asked once.

    Parameters as of `find_core`.
    """

    def __init__(
        self,
        snapshot: Snapshot,
        reasons: Sequence[Reason],
        options: SolveOptions,
        like: Cluster | None,
    ) -> None:
        self._like = like
        self._snapshot = snapshot
        self.reasons = tuple(reasons)
        self._clock = Clock(options)
        self._known: dict[frozenset[int], Answer] = {}
        # Where nothing is counted by domains, to lift a rule never makes a pod less placeable.
        self.monotone = not any(reason.kind in COUNTING_DOMAINS for reason in reasons)

    @property
    def in_time(self) -> bool:
        """Whether time is left."""
        return self._clock.left > 0

    def first(self, start: Collection[Reason] | None) -> Core:
        """Find the core that is shown first; `start` is one that is known already by proof."""
        if start is None:
            return self.run(list(self.reasons))
        return self.run([reason for reason in self.reasons if reason in start], known=True)

    def run(self, standing: list[Reason], *, known: bool = False) -> Core:
        """Make a core minimal; `known` where it needs no proof that it is one."""
        first = tuple(standing)
        if not known:
            standing = self._halve(standing)
        witnesses: dict[int, Witness] = {}
        settled = False
        while not settled:
            settled = True
            witnesses.clear()
            for reason in tuple(standing):
                less = [item for item in standing if item is not reason]
                witness = self._witness(reason, less)
                if witness is None:
                    standing, settled = less, False
                else:
                    witnesses[id(reason)] = witness
        answers = tuple(witnesses[id(reason)] for reason in standing)
        holds = (known and first == tuple(standing)) or self.ask(standing).verdict is Verdict.NO
        proven = holds and all(witness.answer.verdict is Verdict.YES for witness in answers)
        return Core(tuple(standing), answers, proven, len(self._known))

    def _witness(self, reason: Reason, less: Sequence[Reason]) -> Witness | None:
        """Return the answer without a reason, None where it is needless: what is left is a core."""
        alone = self.ask([item for item in self.reasons if item is not reason])
        if alone.verdict is Verdict.YES and self.monotone:
            return Witness(alone, alone=True)
        answer = self.ask(less)
        if answer.verdict is Verdict.NO:
            return None
        return Witness(alone, alone=True) if alone.verdict is Verdict.YES else Witness(answer, alone=False)

    def _halve(self, standing: list[Reason]) -> list[Reason]:
        """Give up many reasons at once where that leaves a core: few rules of a round matter to one pod."""
        size = len(standing) // 2
        while size > 1:
            for first in range(0, len(standing), size):
                less = standing[:first] + standing[first + size :]
                if less and self.ask(less).verdict is Verdict.NO:
                    standing = less
                    break
            else:
                size //= 2
            size = min(size, len(standing) // 2)
        return standing

    def ask(self, standing: Collection[Reason]) -> Answer:
        """Ask whether the pods can be placed while only these reasons stand."""
        kept = frozenset(map(id, standing))
        if kept not in self._known:
            gone = [reason for reason in self.reasons if id(reason) not in kept]
            self._known[kept] = placeable(lifted(self._snapshot, gone), self._clock.options(), self._like)
        return self._known[kept]
