"""The devices of a view that selectors take, in order, found once for each selection and view.

Selectors are asked about every device at once, but an error among the answers waits in its place: it only
counts for a search that comes so far, as upstream's does.
"""

from collections.abc import Iterator
from typing import NamedTuple

from .devices import Device, View
from .selection import Refusal, Selection


class Candidate(NamedTuple):
    """A device that is taken, or the error in which a search ends that gets here.

    With an error, `device` is the one that it is about: in use, it is not looked at. None: it is the pool's.
    """

    device: Device | None
    refusal: Refusal | None


def candidates(view: View, selection: Selection | None) -> tuple[Candidate, ...]:
    """Return the candidates of a selection; none for a class that does not exist."""
    if selection is None:
        return ()
    found: tuple[Candidate, ...] | None = view.found.get(selection.number)
    if found is None:
        found = view.found[selection.number] = tuple(_look(view, selection))
    return found


def _look(view: View, selection: Selection) -> Iterator[Candidate]:
    for pool in view.pools:
        if pool.invalid and not view.tolerant:
            yield Candidate(None, Refusal(f"pool {pool.name} is invalid: {pool.invalid}"))
        for device in pool.devices:
            if device.hidden:
                continue
            answer = selection.answer(device)
            if isinstance(answer, Refusal):
                yield Candidate(device, answer)
            elif answer and device.reached_from(view.node):
                yield Candidate(device, None)
