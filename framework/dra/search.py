"""The allocator: devices for all claims of a pod at once, on one node.

Depth first in a fixed order: claims as the pod lists them, requests as the claim lists them, alternatives in
order, then device after device; candidates in the order of pools, slices and devices. The first full answer
counts.

That answer is upstream's. Two kinds of detours are left out, since they cannot lead to it: the devices of one
want in another order than the candidates', and a device just like one with which everything failed before.

Releases differ in two points (`Manner`): whether a request may have several shares of one device, and whether
counters are lost on the way (`trial`).

Source: k8s.io/dynamic-resource-allocation/structured at 1.34.1 (allocator_experimental.go) and 1.36.2
(allocator_incubating.go).
"""

from collections.abc import Hashable, Iterator, Sequence
from typing import Final, NamedTuple

from .allocation import Pick
from .candidates import candidates
from .claims import MOST_RESULTS, ClaimSpec, Want
from .counters import Counters
from .devices import Device, View
from .plain_shares import plain_shares
from .selection import Refusal
from .trial import ConstraintError, Trial, Usage

MOST_STEPS: Final = 1_000_000
"""Devices looked at before a search is given up: upstream's ten seconds, but the same on every machine."""


class SearchError(Exception):
    """An attempt that ends in an error: `claim` is the place of the claim that it is about."""

    def __init__(self, claim: int, refusal: Refusal) -> None:
        super().__init__(refusal.text)
        self.claim = claim
        self.refusal = refusal


class SearchTimeout(Exception):
    """A search that was given up."""


class FaultyPools(Exception):
    """A search without an answer on a node of which some pools are invalid."""


class Manner(NamedTuple):
    """How a release searches; see `Release`.  Without one: by the documented rules."""

    repeated_shares: bool = False
    lost_counters: bool = False


BY_THE_RULES: Final = Manner()


class _Position(NamedTuple):
    """What is to be chosen next: `want` is -1 before an alternative is, `start` is the first candidate."""

    claim: int
    request: int = 0
    want: int = -1
    device: int = 0
    start: int = 0


def allocate(
    view: View,
    specs: Sequence[ClaimSpec],
    usage: Usage,
    counters: Counters,
    manner: Manner = BY_THE_RULES,
) -> list[list[Pick]] | None:
    """Choose devices for claims on the nodes of a view.

    Parameters
    ----------
    view : View
    specs : sequence of ClaimSpec
    usage : Usage
        What other claims hold.
    counters : Counters
    manner : Manner, optional

    Returns
    -------
    list of list of Pick, or None
        For each claim, in the order of its requests; None where there is no answer.

    Raises
    ------
    SearchError
        Where the attempt ends in an error.
    SearchTimeout
        Where the search takes too long.
    FaultyPools
        Where there is no answer, and invalid pools were passed over.
    """
    plain = plain_shares(view, specs, repeated=manner.repeated_shares)
    found = searched(view, specs, usage, counters, manner) if plain is None else plain.first(view, usage)
    if found is None and view.tolerant and any(pool.invalid for pool in view.pools):
        raise FaultyPools
    return found


def searched(
    view: View, specs: Sequence[ClaimSpec], usage: Usage, counters: Counters, manner: Manner
) -> list[list[Pick]] | None:
    """Choose as `allocate` does, by the search alone and whatever is wrong with the pools."""
    return _Search(view, specs, usage, counters, manner).run()


class _Search:
    def __init__(
        self, view: View, specs: Sequence[ClaimSpec], usage: Usage, counters: Counters, manner: Manner
    ) -> None:
        self._view = view
        self._specs = specs
        self._trial = Trial(specs, usage, counters, loses=manner.lost_counters)
        self._repeats = manner.repeated_shares
        self._counts: dict[int, int] = {}
        self._all: dict[int, list[Device]] = {}
        self._needs: list[list[int]] = []
        self._steps = 0

    def run(self) -> list[list[Pick]] | None:
        """Search."""
        if not self._specs:
            return []
        self._look_ahead()
        stack = [self._options(_Position(0))]
        while stack:
            ahead = next(stack[-1], None)
            if ahead is None:
                stack.pop()
            elif ahead.claim == len(self._specs):
                return self._trial.picks
            else:
                stack.append(self._options(ahead))
        return None

    def _look_ahead(self) -> None:
        """Find how many devices each want needs, and the errors that need no search."""
        for c, spec in enumerate(self._specs):
            needs: list[int] = []
            for request in spec.requests:
                for want in request.wants:
                    self._counts[id(want)] = self._count(c, want)
                needs.append(min(self._counts[id(want)] for want in request.wants))
            if sum(needs) > MOST_RESULTS:
                text = f": number of requested devices {sum(needs)} exceeds the claim limit of {MOST_RESULTS}"
                raise SearchError(c, Refusal(text, of_claim=True))
            if spec.constraint_fault is not None:
                raise SearchError(c, spec.constraint_fault)
            self._needs.append([sum(needs[r + 1 :]) for r in range(len(needs))])

    def _count(self, c: int, want: Want) -> int:
        if want.fault is not None:
            raise SearchError(c, want.fault)
        if not want.all_devices:
            return want.count
        for pool in self._view.pools:
            state = "being updated" if pool.incomplete else "invalid" if pool.invalid else ""
            if state:
                raise self._error(
                    c, want, f"asks for all devices, but resource pool {pool} is currently {state}"
                )
        devices: list[Device] = []
        for device, refusal in candidates(self._view, want.selection):
            if refusal is not None:
                raise SearchError(c, refusal)
            if device is not None and self._trial.has_room(want, device):
                devices.append(device)
        self._all[id(want)] = devices
        return len(devices)

    @staticmethod
    def _error(c: int, want: Want, text: str) -> SearchError:
        return SearchError(c, Refusal(f", request {want.name}: {text}", of_claim=True))

    def _options(self, at: _Position) -> Iterator[_Position]:
        """Make each choice that is possible here, one after another, and yield what comes next.

        A choice is taken back when the next one is asked for.
        """
        spec = self._specs[at.claim]
        if at.request == len(spec.requests):
            yield _Position(at.claim + 1)
            return
        wants = spec.requests[at.request].wants
        if at.want < 0:
            room = MOST_RESULTS - self._trial.size(at.claim) - self._needs[at.claim][at.request]
            for w, want in enumerate(wants):
                # At least one device is needed, also where all are wanted.
                if 0 < self._counts[id(want)] <= room:
                    yield at._replace(want=w)
            return
        want = wants[at.want]
        if at.device == self._counts[id(want)]:
            yield _Position(at.claim, at.request + 1)
        elif want.all_devices:
            yield from self._next_of_all(at, want)
        else:
            yield from self._any(at, want)

    def _next_of_all(self, at: _Position, want: Want) -> Iterator[_Position]:
        device = self._all[id(want)][at.device]
        try:
            chosen = self._trial.choose(at.claim, want, device, must=True)
        except ConstraintError:
            text = f"cannot add device {device.id} because a claim constraint would not be satisfied"
            raise self._error(at.claim, want, text) from None
        if chosen:
            yield at._replace(device=at.device + 1)
            self._trial.take_back(at.claim)

    def _any(self, at: _Position, want: Want) -> Iterator[_Position]:
        trial = self._trial
        found = candidates(self._view, want.selection)
        failed: set[Hashable] = set()
        for k in range(at.start, len(found)):
            device, refusal = found[k]
            self._steps += 1
            if self._steps > MOST_STEPS:
                raise SearchTimeout
            if device is not None and not trial.available(at.claim, want, device):
                continue
            if refusal is not None:
                raise SearchError(at.claim, refusal)
            assert device is not None
            if failed and trial.kind(device) in failed:
                continue
            losses = trial.losses
            if trial.choose(at.claim, want, device, must=False):
                again = device.shared and self._repeats
                yield at._replace(device=at.device + 1, start=k if again else k + 1)
                trial.take_back(at.claim)
                # What was lost meanwhile makes the next one another matter.
                if not device.shared and trial.losses == losses:
                    failed.add(trial.kind(device))
