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
from ...models.step_costs import StepCosts
from ...models.suggest import SuggestDocument, SuggestedStep, Suggestion, Suggestions
from ..api import solve_round
from ..plans.document import limits_of
from ..why.subjects import find_subject, group_subject
from .kubectl import kubectl_lines
from .menu import menu_of
from .search import Found, Search
from .step import Asked
from .trial import Trials

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ...framework.index.cluster import Cluster
    from ...models.plan import Plan
    from ...models.progress import Watch
    from ...models.snapshot import Snapshot
    from ..options import ProgressCallback, SolveOptions
    from ..plans.outcome import SolvedRound
    from ..why.reasons import Subject
    from .step import Menu
    from .trial import Make, Trial

_SHARE: Final = 0.4
"""The share of the time for the best plan of the round as it is."""


@dataclass(frozen=True, kw_only=True)
class SuggestOptions:
    """What is asked.

    Attributes
    ----------
    alternatives : int
        How many suggestions are wanted at most.
    others_may_wait : bool
        Whether pods may be left out or evicted that the best plan before a change places or leaves.
    costs : StepCosts
    node_groups : tuple of mapping
        Node groups of which nodes can be added; none for copies of nodes of the input.
    """

    alternatives: int = 3
    others_may_wait: bool = False
    costs: StepCosts = field(default_factory=StepCosts)
    node_groups: tuple[Mapping[str, Any], ...] = ()


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
    before = solve_round(
        snapshot, replace(search, time_limit=_SHARE * search.time_limit), progress, watch=watch
    )
    subjects = list(_subjects(before, names))
    answers: list[Suggestions] = []
    interrupted = before.plan.stats.interrupted
    for number, (subject, alike) in enumerate(subjects):
        left = search.time_limit - (time.monotonic() - start)
        deadline = time.monotonic() + left / (len(subjects) - number)
        one = _Question(snapshot, before, subject, alike, wanted, search, make, deadline)
        if not interrupted:
            interrupted = one.run(watch)
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


def _subjects(before: SolvedRound, names: Sequence[str] | None) -> Iterator[tuple[Subject, tuple[str, ...]]]:
    """Yield what is asked about, each with the pods that are like it."""
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
        alike.setdefault(group if whole else cluster.pods[i].cls, []).append(left.pod)
    for what, pods in alike.items():
        if isinstance(what, int):
            yield find_subject(cluster, pods[0]), tuple(pods[1:])
        else:
            group = group_of(cluster, cluster.pod_index[pods[0]])
            assert group is not None
            yield group_subject(cluster, group), ()


class _Question:
    def __init__(
        self,
        snapshot: Snapshot,
        before: SolvedRound,
        subject: Subject,
        alike: tuple[str, ...],
        wanted: SuggestOptions,
        search: SolveOptions,
        make: Make,
        deadline: float,
    ) -> None:
        self._snapshot = snapshot
        self._before: Plan = before.plan
        self._subject = subject
        self._alike = alike
        self._wanted = wanted
        self._search = search
        self._placed = any(key in before.plan.placed() for key in subject.keys)
        stand = _standing(before.cluster, before.plan)
        kept = frozenset[str]() if wanted.others_may_wait else stand - subject.keys
        names = tuple(_names(wanted.node_groups))
        movable = _running(before.cluster) - kept
        asked = Asked(snapshot, subject, wanted.costs, names, movable)
        self._menu: Menu = menu_of(asked)
        self._trials = Trials(
            snapshot,
            before.cluster,
            subject.keys,
            kept,
            self._menu,
            search,
            make,
            deadline,
            wanted.node_groups,
        )
        self._asked = asked
        self._found = Found()

    def run(self, watch: Watch) -> bool:
        """Search; return whether Ctrl-C ended it."""
        if self._placed:
            return False

        def tell(tried: int, helping: int) -> None:
            watch(f"trying changes for {self._subject.name}: sets of steps", tried)

        search = Search(self._asked, self._menu, self._trials, self._search.seed, self._found, tell)
        try:
            search.run(self._wanted.alternatives)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            return True
        return False

    def answer(self) -> Suggestions:
        """Return what was found so far."""
        found = self._found
        as_it_is = self._placed or any(not trial.steps for trial in found.trials)
        suggestions = () if as_it_is else tuple(self._suggestions())
        return Suggestions(
            subject=self._subject.name,
            priority=max(info.priority for info in self._subject.infos),
            pods=tuple(info.key for info in self._subject.infos),
            alike=self._alike,
            answer=(
                "placed"
                if as_it_is
                else "suggestions"
                if suggestions
                else "nothing"
                if found.complete
                else "open"
            ),
            complete=self._placed or found.complete,
            suggestions=suggestions,
            menu=len(self._menu.steps),
            trials=found.tried,
            rounds=self._trials.rounds,
        )

    def _suggestions(self) -> Iterator[Suggestion]:
        found = self._found
        for number, (trial, cheapest) in enumerate(zip(found.trials, found.cheapest, strict=True), start=1):
            yield self._suggestion(trial, cheapest, f"suggestion-{number}")

    def _suggestion(self, trial: Trial, cheapest: bool, name: str) -> Suggestion:
        assert trial.plan is not None
        changes = replace(trial.changed, name=name, title="; ".join(step.text for step in trial.steps))
        placed = trial.plan.placed()
        evicted = {item.pod for item in trial.plan.evictions}
        ours = self._before.placed()
        return Suggestion(
            cost=sum(step.cost for step in trial.steps),
            cheapest=cheapest,
            proven=trial.proven and self._before.status == "OPTIMAL",
            steps=tuple(
                SuggestedStep(kind=step.kind, object=step.object, text=step.text, cost=step.cost)
                for step in trial.steps
            ),
            placed={key: node for key, node in sorted(placed.items()) if key in self._subject.keys},
            left_out=tuple(sorted(ours.keys() - placed.keys())),
            evicted=tuple(sorted(evicted - {item.pod for item in self._before.evictions})),
            changes=changes.document(),
            kubectl=kubectl_lines(self._snapshot, changes),
        )


def _running(cluster: Cluster) -> frozenset[str]:
    """Return the running pods that a plan could evict."""
    return frozenset(cluster.pods[v].key for v in cluster.bound if not cluster.pods[v].terminating)


def _standing(cluster: Cluster, plan: Plan) -> frozenset[str]:
    """Return the pods that run or are placed in the end of a plan."""
    return (_running(cluster) - {item.pod for item in plan.evictions}) | plan.placed().keys()


def _names(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for item in groups:
        if item.get("kind") == "Node":
            name = item.get("metadata", {}).get("name")
            if not isinstance(name, str):
                raise KubestowError("--node-groups: a Node without a name")
            yield name
