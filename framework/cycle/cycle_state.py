"""The results of PreFilter, passed on to Filter in one cycle."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..plugins.base import FilterPlugin
    from ..vocabulary.status import Status


class CycleState:
    """The results of PreFilter for one pod in one state.

    Attributes
    ----------
    pod : int
    rejected : Status or None
        PreFilter's refusal: it holds for every node.
    entries : list of (plugin, data)
        The plugins that filter, in order; skipped ones are left out.
    outside : bool[N] or None
        Nodes that are not looked at.
    in_turn : bool
        Whether any of the plugins is asked in its turn only.
    """

    __slots__ = ("entries", "in_turn", "outside", "pod", "rejected")

    def __init__(self, pod: int) -> None:
        self.pod = pod
        self.rejected: Status | None = None
        self.entries: list[tuple[FilterPlugin, Any]] = []
        self.in_turn = False
        self.outside: NDArray[np.bool_] | None = None
