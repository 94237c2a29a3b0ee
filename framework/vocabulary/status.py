"""What a plugin answers: an expected "no" is a value, never an exception.

Source: kube-scheduler 1.34.1 framework/interface.go.
"""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final


class Code(IntEnum):
    """How a plugin judges a pod or a node; the numbers are stored in arrays over nodes."""

    SUCCESS = 0
    UNSCHEDULABLE = 1
    """Rejected; preemption may help."""
    UNRESOLVABLE = 2
    """Rejected, and preemption cannot help there."""
    SKIP = 3
    """The plugin has nothing to do in this cycle."""
    ERROR = 4
    """The attempt ends at once."""

    @property
    def text(self) -> str:
        """Upstream's spelling, as traces print it."""
        return _TEXT[self]


_TEXT: Final = {
    Code.SUCCESS: "Success",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.SKIP: "Skip",
    Code.ERROR: "Error",
}


@dataclass(frozen=True, slots=True)
class Status:
    """A plugin's answer for one pod, or for one pod on one node."""

    code: Code
    plugin: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the pod passes."""
        return self.code is Code.SUCCESS

    @property
    def message(self) -> str:
        """The reasons as one text."""
        return ", ".join(self.reasons)


SUCCESS: Final = Status(Code.SUCCESS)
