"""The least change that would help: the question from its words to its answer.

1. The best plan of the round as it is: who runs or is placed in it may not be worse off after a change.
2. The menu of steps of the pod, or of the group.
3. A search for the cheapest sets of steps after which a best plan of the changed round places it.

Of pods that are alike and are left out, one is asked about. Source: docs/suggest.md.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from ...framework.rules.groups import group_of
from ...models.errors import KubestowError, is_interrupt
from ...models.eviction_limits import EvictionLimits
from ...models.progress import unwatched
from ...models.suggest import SuggestDocument, SuggestedStep, Suggestion, Suggestions
from ..api import solve_round
from ..plans.document import limits_of
from ..why.subjects import find_subject, group_subject
from .kubectl import kubectl_lines
from .menu import menu_of
from .search import Found, Search
from .step import Asked, Menu
from .trial import Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ...models.plan import Plan
    from ...models.progress import Watch
    from ...models.snapshot import Snapshot
    from ...models.suggest import SuggestAnswer
    from ..options import ProgressCallback, SolveOptions
    from ..plans.outcome import SolvedRound
    from ..why.reasons import Subject
    from .suggest_options import SuggestOptions
    from .trial import Make, Trial

_SHARE: Final = 0.4
"""The share of the time for the best plan of the round as it is."""


def suggest(
    snapshot: Snapshot,
    names: Sequence[str] | None,
    wanted: SuggestOptions,
    search: SolveOptions,
    make: Make,
    progress: ProgressCallback | None = None,
    *,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> SuggestDocument:
    """Find the cheapest changes after which pods are placed.

    Parameters
    ----------
    names : sequence of str or None
        Waiting pods or groups, as `solver.why` finds them; None for all that the best plan leaves out, those
        that are alike as one.
    search : SolveOptions
        `time_limit` is for everything.
    make : function
        Makes changes on a snapshot (`instances.what_if.apply.changed_by`).
    waited : float
        Seconds that it took to read the input.

    Raises
    ------
    KubestowError
        Where nothing of a name waits, or the round needs what is not supported.
    """
    start = time.monotonic()
    if search.limits:
        snapshot = replace(snapshot, limits=search.limits)
    search = replace(search, limits=EvictionLimits(), prefer="none")
    first = replace(search, time_limit=_SHARE * search.time_limit)
    before = solve_round(snapshot, first, progress, watch=watch)
    subjects = list(subjects_of(before, names))
    answers: list[Suggestions] = []
    interrupted = before.plan.stats.interrupted
    for number, (subject, alike) in enumerate(subjects):
        left = search.time_limit - (time.monotonic() - start)
        seconds = left / (len(subjects) - number)
        one = question_of(snapshot, before, subject, alike, wanted, search, make, seconds)
        interrupted = interrupted or one.run(watch)
        answers.append(one.answer())
    return SuggestDocument(
        instance=snapshot.name,
        status=before.plan.status,
        others_may_wait=wanted.others_may_wait,
        answers=tuple(answers),
        limits=limits_of(before.cluster),
        wall_seconds=round(waited + time.monotonic() - start, 3),
        interrupted=interrupted,
    )


def subjects_of(
    before: SolvedRound, names: Sequence[str] | None
) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """Yield what is asked about, each with the keys of the pods that are like it."""
    cluster = before.cluster
    if names is not None:
        for name in names:
            yield find_subject(cluster, name), ()
        return
    placed = before.plan.placed()
    alike: dict[object, list[str]] = {}
    for left in before.plan.unschedulable:
        i = cluster.pod_index[left.pod]
        group = group_of(cluster, i)
        whole = group is not None and placed.keys().isdisjoint(cluster.pods[j].key for j in group.members)
        alike.setdefault(("group", group.key) if whole and group else cluster.pods[i].cls, []).append(
            left.pod
        )
    for which, pods in alike.items():
        group = group_of(cluster, cluster.pod_index[pods[0]])
        if isinstance(which, tuple) and group is not None:
            yield group_subject(cluster, group), ()
        else:
            yield find_subject(cluster, pods[0]), tuple(pods[1:])


def question_of(
    snapshot: Snapshot,
    before: SolvedRound,
    subject: Subject,
    alike: tuple[str, ...],
    wanted: SuggestOptions,
    search: SolveOptions,
    make: Make,
    seconds: float,
    choose: Callable[[Menu], Menu] = lambda menu: menu,
) -> Question:
    """Set up a question.

    Parameters
    ----------
    seconds : float
        From now on, for the answer.
    choose : function
        Returns the menu with some of its steps.
    """
    plan, cluster = before.plan, before.cluster
    running = frozenset(cluster.pods[v].key for v in cluster.bound if not cluster.pods[v].terminating)
    standing = (running - {item.pod for item in plan.evictions}) | plan.placed().keys()
    kept = frozenset[str]() if wanted.others_may_wait else standing - subject.keys
    names = tuple(_names(wanted.node_groups))
    asked = Asked(snapshot, subject, wanted.costs, names, movable=running - kept)
    menu = choose(menu_of(asked))
    deadline = time.monotonic() + seconds
    trials = Trials(snapshot, cluster, subject.keys, kept, menu, search, make, deadline, wanted.node_groups)
    return Question(plan, asked, alike, menu, trials, search.seed, wanted.alternatives)


def _names(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for item in groups:
        if item.get("kind") == "Node":
            name = item.get("metadata", {}).get("name")
            if not isinstance(name, str):
                raise KubestowError("--node-groups: a Node without a name")
            yield name


@dataclass(frozen=True, eq=False)
class Question:
    """A question about one pod or one group.

    Attributes
    ----------
    before : Plan
        The best plan of the round as it is.
    asked : Asked
    alike : tuple of str
        Keys of pods of the same class that wait.
    menu : Menu
    trials : Trials
    seed : int
    alternatives : int
    found : Found
        What is known so far.
    """

    before: Plan
    asked: Asked
    alike: tuple[str, ...]
    menu: Menu
    trials: Trials
    seed: int
    alternatives: int
    found: Found = field(default_factory=Found)

    @property
    def snapshot(self) -> Snapshot:
        """The round as it is."""
        return self.asked.snapshot

    @property
    def subject(self) -> Subject:
        """The pod or the group."""
        return self.asked.subject

    @property
    def is_placed(self) -> bool:
        """Whether the best plan places it as it is."""
        return not self.subject.keys.isdisjoint(self.before.placed())

    def run(self, watch: Watch) -> bool:
        """Search; return whether Ctrl-C ended it."""
        if self.is_placed:
            return False
        phase = f"trying changes for {self.subject.name}: sets of steps"

        def tell(tried: int) -> None:
            watch(phase, tried)

        search = Search(self.asked, self.menu, self.trials, self.seed, self.found, tell)
        try:
            search.run(self.alternatives)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            return True
        return False

    def answer(self) -> Suggestions:
        """Return what was found so far."""
        as_it_is = self.is_placed or any(not trial.steps for trial in self.found.trials)
        suggestions = () if as_it_is else tuple(self._suggestions())
        answer: SuggestAnswer = "nothing" if self.found.complete else "open"
        if suggestions:
            answer = "suggestions"
        if as_it_is:
            answer = "placed"
        return Suggestions(
            subject=self.subject.name,
            priority=max(info.priority for info in self.subject.infos),
            pods=tuple(info.key for info in self.subject.infos),
            alike=self.alike,
            answer=answer,
            complete=as_it_is or self.found.complete,
            suggestions=suggestions,
            menu=len(self.menu.steps),
            trials=self.found.tried,
            rounds=self.trials.rounds,
        )

    def _suggestions(self) -> Iterator[Suggestion]:
        both = zip(self.found.trials, self.found.cheapest, strict=True)
        for number, (trial, cheapest) in enumerate(both, start=1):
            yield self._suggestion(trial, cheapest, f"suggestion-{number}")

    def _suggestion(self, trial: Trial, cheapest: bool, name: str) -> Suggestion:
        assert trial.plan is not None
        changes = replace(trial.changed, name=name, title="; ".join(step.text for step in trial.steps))
        placed = trial.plan.placed()
        evicted = {item.pod for item in trial.plan.evictions}
        return Suggestion(
            cost=sum(step.cost for step in trial.steps),
            cheapest=cheapest,
            proven=trial.proven and self.before.status == "OPTIMAL",
            steps=tuple(
                SuggestedStep(kind=step.kind, object=step.object, text=step.text, cost=step.cost)
                for step in trial.steps
            ),
            placed={key: node for key, node in sorted(placed.items()) if key in self.subject.keys},
            left_out=tuple(sorted(self.before.placed().keys() - placed.keys())),
            evicted=tuple(sorted(evicted - {item.pod for item in self.before.evictions})),
            changes=changes.document(),
            kubectl=kubectl_lines(self.snapshot, changes),
        )
