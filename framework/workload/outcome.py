"""What became of a group in one cycle, whatever the text of the cycle."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from ..cycle.cycle import Cycle, apply
from .placement import PodGroupInfo
from .variants import WorkloadCycleVariant

if TYPE_CHECKING:
    from ..cycle.budget_ledger import Ledger
    from ..state.state import State


class Member(NamedTuple):
    """What a group's cycle means for one pod.

    Attributes
    ----------
    cycle : Cycle
        Its own cycle, with the outcome that the group's cycle gives it.
    message : str
        The text of its condition; empty where it is bound.
    group : str
        Key of its PodGroup.
    placement : str
        Name of the placement that its own cycle was in; empty for the whole cluster, and for none.
    of_group : bool
        Whether the text is the group's, not its own.
    """

    cycle: Cycle
    message: str
    group: str
    placement: str
    of_group: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GroupCycle(ABC):
    """What happened to a group; nothing has changed by it yet.

    Attributes
    ----------
    variant : WorkloadCycleVariant
    info : PodGroupInfo
    refusal : str
        Why nobody is placed; empty where members are bound.
    error : bool
        Whether the cycle ended in an error.
    """

    variant: WorkloadCycleVariant
    info: PodGroupInfo
    refusal: str
    error: bool

    @property
    def placed(self) -> bool:
        """Whether members are bound."""
        return not self.refusal

    @property
    def constrained(self) -> bool:
        """Whether placements were made for a topology constraint."""
        return bool(self.info.group.topology_keys)

    @property
    @abstractmethod
    def placement(self) -> str | None:
        """The name of the placement in which members' cycles are told, None for none."""

    @abstractmethod
    def departures(self) -> Iterator[tuple[int, int]]:
        """Return who has to leave, the most important first, each with the member for which it leaves."""

    @abstractmethod
    def members(self, state: "State", ledger: "Ledger") -> Iterator[Member]:
        """Tell what the cycle means for each pod, in the order in which they were tried.

        Each is given while its reasons can be read; `state` is that of the cycle, and is not changed.
        """

    def told(self, own: Cycle, message: str, *, of_group: bool = False) -> Member:
        """Return what the cycle means for a member of the group itself."""
        return Member(own, message, self.info.group.key, self.placement or "", of_group)

    @abstractmethod
    def outcomes(self) -> Sequence[Cycle]:
        """Return the cycles by which the outcome happens: members are bound, nominated or left alone."""

    @abstractmethod
    def document(self, state: "State", ledger: "Ledger") -> dict[str, Any] | None:
        """Write the group's entry of a trace, None where there was no cycle of the group."""

    def happen(self, state: "State", ledger: "Ledger") -> Mapping[int, Sequence[int]]:
        """Let the outcome happen; return who lost a nomination, by the member to which it was lost."""
        return {own.pod: apply(state, own, ledger) for own in self.outcomes()}
