"""A plan of moves in words, replayed before it is written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models.moves import Move
from ...models.plan import Binding, Tier
from ...models.rebalance import Rebalancing
from ..moves.replay import replay
from ..moves.steps import steps_of
from .decoding import batches
from .value import free_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...models.progress import Watch
    from ..plans.objective import ObjectiveVector
    from ..plans.outcome import Outcome
    from .round import MoveRound


def rebalancing(round_: MoveRound, outcome: Outcome, tiers: tuple[Tier, ...], watch: Watch) -> Rebalancing:
    """Replay a plan and write it down.

    Raises
    ------
    ReplayFailure
        Naming the first step that does not hold.
    """
    cluster, mobility = round_.cluster, round_.mobility
    keys, names = [info.key for info in cluster.pods], cluster.node_names
    steps = steps_of(cluster, outcome.moves)
    end = replay(round_.moving, steps, watch=watch, admit=mobility.admits)
    before, after = free_nodes(cluster, mobility, round_.state), free_nodes(cluster, mobility, end)
    origin = round_.moving.original
    return Rebalancing(
        tiers=tiers,
        moves=tuple(
            Move(
                pod=keys[origin[i]],
                source=names[cluster.pods[origin[i]].initial_node],
                replacement=keys[i],
                target=names[node],
            )
            for i, node in sorted(outcome.placed.items(), key=lambda item: origin.get(item[0], -1))
            if i in origin
        ),
        bindings=tuple(
            Binding(pod=keys[i], node=names[node])
            for i, node in sorted(outcome.placed.items())
            if i not in origin
        ),
        freed=tuple(names[n] for n in range(cluster.n_nodes) if after[n] and not before[n]),
        steps=steps,
        batches=batches(outcome.moves),
    )


def tiers_of(value: ObjectiveVector, bounds: Mapping[str, int | None] | None = None) -> tuple[Tier, ...]:
    """Return tiers with their bounds, or with none."""
    found = []
    for tier in value.tiers:
        bound = None if bounds is None else bounds.get(tier.name)
        found.append(
            Tier(name=tier.name, sense=tier.sense, value=tier.value, bound=bound, proven=bound == tier.value)
        )
    return tuple(found)
