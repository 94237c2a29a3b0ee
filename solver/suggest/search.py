"""The cheapest sets of steps that help, one after the other: proposals of a master, each tried on its round.

The master knows all that trials have ruled out; its cheapest set that is left is tried next. The first that
helps is the cheapest of all, as every cheaper one was ruled out by a proof. What rules out a set is widened
before it is told: steps are added as long as the same proof still holds. Source: docs/suggest.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .master import Master
from .requests import likely_most, with_amount
from .step import Profile
from .trial import Outcome, Room

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .step import Asked, Menu, Request, Step
    from .trial import Trial, Trials


@dataclass
class Found:
    """What a search has found.

    Attributes
    ----------
    trials : list of Trial
        Those that help, in the order in which they were found: the cheapest first.
    cheapest : list of bool
        For each, whether all sets before it are ruled out by proof.
    complete : bool
        Whether every set is ruled out, or no better than one that was found.
    tried : int
        How many sets were tried.
    """

    trials: list[Trial] = field(default_factory=list)
    cheapest: list[bool] = field(default_factory=list)
    complete: bool = False
    tried: int = 0


class Search:
    """A search for sets of steps.

    Parameters
    ----------
    asked : Asked
    menu : Menu
    trials : Trials
    seed : int
    found : Found
        Gets what is found as soon as it is.
    tell : function
        Hears how many sets were tried.
    """

    def __init__(
        self,
        asked: Asked,
        menu: Menu,
        trials: Trials,
        seed: int,
        found: Found,
        tell: Callable[[int], None],
    ) -> None:
        self._found = found
        self._asked = asked
        self._menu = menu
        self._trials = trials
        self._master = Master(menu, seed)
        self._tell = tell
        self._exact = True

    def run(self, alternatives: int) -> None:
        """Find sets that help, each cheaper than all before in some kind of step, until there are enough."""
        found = self._found
        while len(found.trials) < alternatives and self._trials.seconds_left() > 0:
            steps = self._master.cheapest()
            if steps is None:
                found.complete = self._exact
                break
            found.tried += 1
            self._tell(found.tried)
            trial = self._trials.run(steps)
            if trial.outcome is Outcome.HELPS:
                found.trials.append(self._refined(trial))
                found.cheapest.append(self._exact)
                if not steps:
                    found.complete = True
                    break
                self._master.demand_better(steps)
            else:
                self._exact &= trial.outcome is not Outcome.OPEN
                self._master.rule_out(Profile.of(self._widened(trial)), trial.exact)

    # -- what else a trial rules out --

    def _widened(self, trial: Trial) -> tuple[Step, ...]:
        """Return a largest set that the proof of a trial rules out as well, as far as time allows."""
        steps = {step.series: step for step in trial.steps}
        free = self._menu.series.keys() - trial.exact
        more = [step for step in self._menu.all_of(free) if step not in trial.steps]
        kinds, begun = {s.kind for s in trial.steps}, {s.series for s in trial.steps}
        chunks = [
            [step for step in more if step.kind not in kinds],
            [step for step in more if step.kind in kinds],  # first: the master would propose these next
        ]
        while chunks and self._trials.seconds_left() > 0:
            chunk = chunks.pop()
            if not chunk:
                continue
            larger = {**steps, **{step.series: step for step in chunk}}
            if self._still(trial, self._ordered(larger.values())):
                steps = larger
            elif len(chunk) > 1:
                half = len(chunk) // 2
                chunks += [chunk[half:], chunk[:half]]
            elif chunk[0].series in begun:  # the master would go on with its next level
                steps = self._further(trial, steps, chunk[0])
        return self._ordered(steps.values())

    def _further(self, trial: Trial, steps: dict[str, Step], last: Step) -> dict[str, Step]:
        """Return a set with the furthest step of a series with which the proof still holds, by halves."""
        first = steps[last.series].level
        series = [step for step in self._menu.steps if step.series == last.series]
        between = [step for step in series if first < step.level < last.level]
        while between and self._trials.seconds_left() > 0:
            half = len(between) // 2
            more = {**steps, last.series: between[half]}
            if self._still(trial, self._ordered(more.values())):
                steps, between = more, between[half + 1 :]
            else:
                between = between[:half]
        return steps

    def _still(self, trial: Trial, steps: tuple[Step, ...]) -> bool:
        if trial.outcome is Outcome.NO_ROOM:
            room = self._trials.room(steps)
            if room is Room.NEVER or room is trial.room is Room.NONE:
                return True
            if trial.room is not Room.SOME:
                return False
        return self._trials.run(steps).outcome is trial.outcome

    def _ordered(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        chosen = set(steps)
        return tuple(step for step in self._menu.steps if step in chosen)

    # -- requests, as large as they can be --

    def _refined(self, trial: Trial) -> Trial:
        """Return a trial whose lowered requests are as large as they can be, one resource after the other."""
        for step in trial.steps:
            if step.request is not None:
                trial = self._raised(trial, step)
        return trial

    def _raised(self, trial: Trial, step: Step) -> Trial:
        """Raise one request: first to the most that finds room at all, then, if need be, to what helps."""
        assert step.request is not None
        best = trial

        def with_it(amount: int) -> tuple[Step, ...]:
            other = with_amount(self._asked, step, amount)
            return tuple(other if each.series == step.series else each for each in best.steps)

        amount = self._most_with_room(step.request, trial, with_it)
        low, high = step.request.least, amount
        while low < high and self._trials.seconds_left() > 0:
            tried = self._trials.run(with_it(amount))
            if tried.outcome is Outcome.HELPS:
                low, best = amount, tried
            else:
                high = amount - 1
            amount = (low + high + 1) // 2
        return best

    def _most_with_room(
        self, request: Request, trial: Trial, with_it: Callable[[int], tuple[Step, ...]]
    ) -> int:
        """Return the largest amount with which a place is found; the next one has none."""
        low, high = request.least, request.most
        guess = likely_most(self._asked, request, self._trials.after(trial.steps))
        for amount in (guess, guess + 1):
            if low < amount <= high:
                if self._trials.room(with_it(amount)) is Room.SOME:
                    low = amount
                else:
                    high = amount - 1
        while low < high and self._trials.seconds_left() > 0:
            middle = (low + high + 1) // 2
            if self._trials.room(with_it(middle)) is Room.SOME:
                low = middle
            else:
                high = middle - 1
        return low
