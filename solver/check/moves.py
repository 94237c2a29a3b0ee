"""Checks of documents about moves: a drain's and a rebalancing's steps, replayed.

Which pods may move is a matter of options that the documents do not have: whoever an option could let move
may here, but for those that a document says stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ...models.eviction_limits import EvictionLimits
from ...models.moves import MoveOptions
from ...models.progress import unwatched
from ..moves.drained import check_drained, stages_of
from ..moves.moving import moving
from ..moves.replay import changes_of
from ..moves.replay import replay as replay_moves
from ..moves.task import DrainOptions, task_of
from ..plans.replay import ReplayFailure
from .answers import Finding

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from ...framework.state.moves import Change
    from ...models.drain import Drain
    from ...models.plan import Tier
    from ...models.rebalance import Rebalance, Rebalancing
    from ...models.snapshot import Snapshot

_EVERY_STEP: Final = "every step passes every filter and keeps every budget"
_NEVER: Final = "never-move"


def check_drain(snapshot: Snapshot, told: Drain) -> list[Finding]:
    """Replay the steps of a drain, and compare its stages and counts with them."""
    return [*_drain(snapshot, told)]


def _drain(snapshot: Snapshot, told: Drain) -> Iterator[Finding]:
    beside = "obstacles, onceOpen, inNameOrder, stats"
    if told.verdict != "possible":
        yield Finding(f"the drain is {told.verdict}", None, "no steps show it: the word of `kubestow drain`")
        yield Finding(f"fields beside the steps: {beside}", None, "not looked at")
        return
    reasons = {each.reason for each in told.staying}
    if _NEVER in reasons:
        yield Finding(_EVERY_STEP, None, "--never-move is not in the document")
        return
    options = _letting(reasons)
    task = task_of(snapshot, told.nodes, DrainOptions(rolling=told.rolling, moves=options), unwatched)
    try:
        changes: list[Change] = [*changes_of(task.moving, told.steps)]  # type: ignore[list-item]
        check_drained(task, changes, unwatched)
    except ReplayFailure as error:
        yield Finding(_EVERY_STEP, False, str(error))
        return
    yield Finding(_EVERY_STEP, True, f"{len(told.steps)} steps replayed")
    yield Finding("every node is closed and then empty", True, "read off the steps")
    stages = stages_of(task, changes)
    yield Finding("the stages are those of the steps", stages == told.stages, "compared with the steps")
    moves = [move for stage in stages for batch in stage.batches for move in batch.moves]
    counted = (len(moves), sum(move.waits for move in moves))
    yield Finding("moves and waits", counted == (told.moves, told.waits), "counted in the steps")
    yield _nobody_moves((each.pod for each in told.staying), (move.pod for move in moves))
    yield Finding(f"fields beside the steps: {beside}", None, "not looked at")


def _letting(reasons: Collection[str]) -> MoveOptions:
    """Return the options that let all pods move but those that stay for one of some reasons."""
    return MoveOptions(
        ignore_annotations=not {"safe-to-evict", "do-not-disrupt"} & {*reasons},
        delete_emptydir_data="empty-dir" not in reasons,
        ignore_host_path="host-path" not in reasons,
    )


def check_rebalance(snapshot: Snapshot, told: Rebalance) -> list[Finding]:
    """Replay the steps of the best moves, and of those of the rule beside them."""
    findings = [*_rebalancing(snapshot, told, told.optimal, "the optimum")]
    findings += _rebalancing(snapshot, told, told.heuristic, told.rule)
    beside = "tiers (but for the moves), freed, front, movable, stats"
    return [*findings, Finding(f"fields beside the steps: {beside}", None, "not looked at")]


def _rebalancing(snapshot: Snapshot, told: Rebalance, plan: Rebalancing, name: str) -> Iterator[Finding]:
    """Replay one set of moves, and compare what is said of them with the steps."""
    leaving = {step.leave for step in plan.steps if step.leave is not None}
    kept = replace(snapshot, limits=EvictionLimits(evictions=0))
    numbered = moving(kept, _letting(()), lambda pod, node: pod in leaving)
    cluster = numbered.cluster
    try:
        replay_moves(numbered, plan.steps, admit=told.goal == "admit")
    except ReplayFailure as error:
        yield Finding(f"{name}: {_EVERY_STEP}", False, str(error))
        return
    yield Finding(f"{name}: {_EVERY_STEP}", True, f"{len(plan.steps)} steps replayed")
    ends = {step.bind: step.node for step in plan.steps if step.bind is not None}
    keys = [info.key for info in cluster.pods]
    origin = {keys[new]: keys[old] for new, old in numbered.original.items()}
    moved = {(origin[pod], pod, node) for pod, node in ends.items() if pod in origin}
    said = {(move.pod, move.replacement, move.target) for move in plan.moves}
    yield Finding(f"{name}: moves are those of the steps", said == moved, "read off the steps")
    bound = {(pod, node) for pod, node in ends.items() if pod not in origin}
    same = bound == {(item.pod, item.node) for item in plan.bindings}
    yield Finding(f"{name}: bindings are those of the steps", same, "read off the steps")
    counts = [tier.value for tier in plan.tiers if tier.name == "moves"]
    yield Finding(f"{name}: the tier of the moves", counts in ([], [len(moved)]), "counted in the steps")
    beyond = [tier.name for tier in plan.tiers if _is_beyond(tier)]
    yield Finding(f"{name}: no value is beyond its bound", not beyond, ", ".join(beyond) or "compared")
    yield _nobody_moves((each.pod for each in told.unmovable), (pod for pod, _, _ in moved), name)


def _nobody_moves(staying: Iterable[str], moved: Iterable[str], name: str = "") -> Finding:
    """Compare who is said to stay with who moves."""
    claim = "who is said to stay does not move"
    both = sorted({*staying} & {*moved})
    how = f"{both[0]} does both" if both else "compared with the steps"
    return Finding(f"{name}: {claim}" if name else claim, not both, how)


def _is_beyond(tier: Tier) -> bool:
    """Whether a tier's value is better than its bound allows."""
    if tier.bound is None:
        return False
    return tier.value > tier.bound if tier.sense == "max" else tier.value < tier.bound
