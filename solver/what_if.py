"""A round before and after changes of its cluster, each solved by both schedulers, side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ..models.admission import PriorityClasses, admit
from ..models.errors import is_interrupt
from ..models.progress import unwatched
from ..models.recount import counted_anew
from ..models.requests import in_units, pod_requests
from ..models.tiers import importance
from ..models.what_if import MadeAgain, Round, TierValue, WhatIf, WhatIfPod, WhatIfScenario, WhatIfTier
from ..simulation.daemons import daemons_on
from .api import SolveOptions, solve_both

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ..models.changes import Changed
    from ..models.node import Node
    from ..models.plan import Plan, Tier
    from ..models.pod import Pod
    from ..models.progress import Watch
    from ..models.snapshot import Snapshot
    from ..models.what_if import Fate
    from .options import ProgressCallback

_PODS: Final = "pods"


def what_if(
    snapshot: Snapshot,
    scenarios: Sequence[Changed],
    options: SolveOptions | None = None,
    progress: ProgressCallback | None = None,
    *,
    begin: Callable[[str], None] = lambda name: None,
    watch: Watch = unwatched,
    waited: float = 0.0,
) -> WhatIf:
    """Solve a round, and once more after each set of changes.

    A cluster that changes leave as it was is not solved again: the plans are the same.

    Parameters
    ----------
    snapshot : Snapshot
    scenarios : sequence of Changed
        The cluster after each set of changes.
    options : SolveOptions, optional
        `time_limit` is for each round.
    progress, watch : callable, optional
        As for `api.solve`, of every round.
    begin : callable
        Hears the name of each round before it is solved; empty for the first.
    waited : float
        Seconds that it took to read the input.

    Returns
    -------
    WhatIf
        With fewer scenarios where Ctrl-C came; before the first plan it is raised.

    Raises
    ------
    KubestowError
        Where a round needs what is not supported.
    """
    begin("")
    before = _solved(snapshot, options, progress, watch, waited)
    done: list[WhatIfScenario] = []
    interrupted = _was_interrupted(before)
    for changed in scenarios:
        if interrupted:
            break
        begin(changed.change_set.name)
        cluster, daemons = settled(snapshot, changed)
        try:
            same = cluster == snapshot
            after = before if same else _solved(cluster, options, progress, watch, 0.0)
        except BaseException as error:
            if not is_interrupt(error):
                raise
            interrupted = True
            break
        done.append(_scenario(snapshot, changed, cluster, daemons, before, after))
        interrupted = _was_interrupted(after)
    return WhatIf(instance=snapshot.name, before=before, scenarios=tuple(done), interrupted=interrupted)


def _solved(
    snapshot: Snapshot,
    options: SolveOptions | None,
    progress: ProgressCallback | None,
    watch: Watch,
    waited: float,
) -> Round:
    optimal, greedy = solve_both(snapshot, options, progress, watch=watch, waited=waited)
    return Round(optimal=optimal, greedy=greedy)


def _was_interrupted(solved: Round) -> bool:
    return solved.optimal.stats.interrupted or solved.greedy.stats.interrupted


# -- what controllers add ------------------------------------------------------------


def settled(before: Snapshot, changed: Changed) -> tuple[Snapshot, tuple[str, ...]]:
    """Return a changed cluster with the DaemonSets' pods of its new nodes, and budgets that know of it all.

    Returns
    -------
    snapshot : Snapshot
    daemons : tuple of str
        The new pods of DaemonSets, by key.
    """
    snapshot = changed.snapshot
    nodes = {node.name: node for node in snapshot.nodes}
    classes = PriorityClasses(snapshot.priority_classes)
    daemons: list[Pod] = []
    for name in changed.new_nodes:
        coming = daemons_on(nodes[name], snapshot.daemon_sets, snapshot.feature_gates)
        daemons += _on_node(nodes[name], [admit(pod, classes) for pod in coming])
    if daemons:
        snapshot = replace(snapshot, pods=(*snapshot.pods, *daemons))
    return counted_anew(before, snapshot), tuple(pod.key for pod in daemons)


def _on_node(node: Node, daemons: Sequence[Pod]) -> Iterator[Pod]:
    """Bind daemons to their new node as far as it has room, by priority; the others wait for it."""
    free = in_units(node.status.allocatable)
    for pod in sorted(daemons, key=lambda pod: -pod.priority):
        asked = {**pod_requests(pod), _PODS: 1}
        if any(amount > free.get(name, 0) for name, amount in asked.items() if amount):
            yield pod
            continue
        for name, amount in asked.items():
            free[name] = free.get(name, 0) - amount
        spec = pod.spec.model_copy(update={"node_name": node.name})
        status = pod.status.model_copy(update={"phase": "Running"})
        yield pod.model_copy(update={"spec": spec, "status": status})


# -- side by side ------------------------------------------------------------


def _scenario(
    snapshot: Snapshot,
    changed: Changed,
    cluster: Snapshot,
    daemons: tuple[str, ...],
    before: Round,
    after: Round,
) -> WhatIfScenario:
    tiers = _tiers(before, after)
    return WhatIfScenario(
        name=changed.change_set.name,
        title=changed.change_set.title,
        changes=changed.change_set.document(),
        new_nodes=changed.new_nodes,
        lost_nodes=changed.lost_nodes,
        made_again=tuple(MadeAgain(pod=pod, node=node) for pod, node in changed.made_again.items()),
        lost=changed.lost,
        removed=changed.removed,
        new_pods=changed.new_pods,
        daemons=daemons,
        notes=changed.notes,
        after=after,
        tiers=tiers,
        first_difference=next((tier.name for tier in tiers if _differs(tier)), None),
        pods=tuple(_pods((snapshot, before.optimal), (cluster, after.optimal), changed, {*daemons})),
        greedy_pods=tuple(_pods((snapshot, before.greedy), (cluster, after.greedy), changed, {*daemons})),
    )


def _tiers(before: Round, after: Round) -> tuple[WhatIfTier, ...]:
    """Set the tiers of two rounds side by side, the most important first."""
    old, new = _by_name(before), _by_name(after)
    senses = {tier.name: tier.sense for tier in (*after.optimal.tiers, *before.optimal.tiers)}
    return tuple(
        WhatIfTier(name=name, sense=senses[name], before=old.get(name), after=new.get(name))
        for name in sorted(senses, key=importance)
    )


def _by_name(solved: Round) -> dict[str, TierValue]:
    greedy: Mapping[str, Tier] = {tier.name: tier for tier in solved.greedy.tiers}
    return {
        tier.name: TierValue(
            optimal=tier.value, bound=tier.bound, proven=tier.proven, greedy=greedy[tier.name].value
        )
        for tier in solved.optimal.tiers
    }


def _differs(tier: WhatIfTier) -> bool:
    """Whether the optima of a tier differ; a tier that one round lacks counts as 0 there."""
    before, after = (0 if value is None else value.optimal for value in (tier.before, tier.after))
    return before != after


def _pods(
    before: tuple[Snapshot, Plan], after: tuple[Snapshot, Plan], changed: Changed, daemons: set[str]
) -> Iterator[WhatIfPod]:
    """Yield the pods with another fate, by name; new daemons are told elsewhere."""
    old, new = _places(*before), _places(*after)
    gone = [{item.pod for item in plan.evictions} for _, plan in (before, after)]
    lost, removed, made = {*changed.lost}, {*changed.removed}, {*changed.new_pods}
    for pod in sorted((old.keys() | new.keys()) - daemons):
        there, then = old.get(pod), new.get(pod)
        change: Fate | None
        if pod in lost or (pod in removed and pod not in new):
            change = "lost" if pod in lost else "removed"
        elif pod in made:
            change = "comes" if then is not None else "queues"
        elif (pod in gone[0]) != (pod in gone[1]) and pod not in changed.made_again:
            change = "evicted" if pod in gone[1] else "spared"
        else:
            change = _change(there, then)
        if change is not None:
            yield WhatIfPod(pod=pod, before=there, after=then, change=change)


def _change(before: str | None, after: str | None) -> Fate | None:
    if before == after:
        return None
    if before is None:
        return "starts"
    return "waits" if after is None else "moves"


def _places(snapshot: Snapshot, plan: Plan) -> dict[str, str | None]:
    """Return where each pod of a round is in the end; None is nowhere."""
    placed, evicted = plan.placed(), {item.pod for item in plan.evictions}
    return {
        pod.key: None if pod.key in evicted else pod.spec.node_name or placed.get(pod.key)
        for pod in snapshot.pods
        if not pod.is_terminal
    }
