"""How far a long step is: the one interface by which every room reports it."""

from typing import Protocol


class Watch(Protocol):
    """Called now and then by steps that may take long; it may raise to end the step.

    A step is left in no defined state by what is raised: its result is lost.
    """

    def __call__(self, phase: str, done: int = 0, total: int = 0) -> None:
        """Hear of a step.

        Parameters
        ----------
        phase : str
            What is being done, of what: `greedy: pods`, `reading cluster.yaml: bytes`.
        done, total : int
            How much of it; a total of 0 is not known.
        """


def unwatched(phase: str, done: int = 0, total: int = 0) -> None:
    """Ignore how far a step is."""
