"""Moves of running pods: what is asked, and the steps that carry them out (docs/model.md, "Moves").

A move of v is three steps: v is marked, v leaves, and v', which v's controller makes in its place, is bound
to another node. Whether a pod may move is `framework.rules.movable`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .plan import Step
from .plan_model import PlanModel

if TYPE_CHECKING:
    from .eviction_limits import PodSelector


@dataclass(frozen=True, kw_only=True)
class MoveOptions:
    """Which pods may move beyond the rule, and which may not although the rule lets them.

    Attributes
    ----------
    delete_emptydir_data : bool
        Whether pods with `emptyDir` volumes move; what is in them is lost.
    ignore_host_path : bool
        Whether pods with `hostPath` volumes move; what is in them stays behind.
    ignore_annotations : bool
        Whether pods move whose annotations ask not to be disrupted.
    never_move : tuple of PodSelector
        Pods that stay.
    """

    delete_emptydir_data: bool = False
    ignore_host_path: bool = False
    ignore_annotations: bool = False
    never_move: tuple[PodSelector, ...] = ()


class MoveStep(Step):
    """One step: exactly one of mark, leave, bind (with node), cordon, uncordon.

    `mark` and `leave` name v, `bind` names v'; where v' moves once more, its name stands for the pod after
    it, too. Between `cordon` and `uncordon` no moved pod is bound to a node.
    """

    cordon: str | None = None
    uncordon: str | None = None


class Move(PlanModel):
    """Where a pod goes: `pod` (v) leaves `source`, and `replacement` (v') is bound to `target`.

    `waits` tells that it is bound only after a node that was drained has come back; `target` may be `source`
    then.
    """

    pod: str
    source: str
    replacement: str
    target: str
    waits: bool = False


class Batch(PlanModel):
    """A longest run of marks and leaves before the next bind, with the binds up to the batch after it.

    The pods of a batch may be evicted at the same time.
    """

    moves: tuple[Move, ...]
