"""How often greedy's round is the best one.

An instance counts as *optimal* where the best known plan is proven and greedy's tiers equal it, as *behind*
where the best known plan is better, whether or not it is proven, and as *unknown* where greedy equals a plan
that is not proven. The share of optimal rounds is then known to lie between optimal / n and
(optimal + unknown) / n; both are reported instead of leaving the unknown out, which would favour whatever is
proven easily. Where greedy's outcome is no plan (`Stats.admissible`) there is nothing to compare.

Source: the definition is kubestow's own; ends of what is not identified, in the sense of Manski, "Partial
Identification of Probability Distributions" (2003).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...models.study_report import GreedyShare

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..results import Answer


def shares(answers: Sequence[Answer]) -> tuple[GreedyShare, ...]:
    """Return the share for each variant, as a whole and by family where it has several."""
    found = []
    for variant in dict.fromkeys(answer.variant for answer in answers):
        of_variant = [answer for answer in answers if answer.variant == variant]
        families = list(dict.fromkeys(answer.family for answer in of_variant))
        for family in (None, *families) if len(families) > 1 else families:
            among = [answer for answer in of_variant if family in (None, answer.family)]
            found.append(_share(variant, family, among))
    return tuple(found)


def _share(variant: str, family: str | None, answers: Sequence[Answer]) -> GreedyShare:
    compared = [answer for answer in answers if answer.greedy.first.admissible]
    equal = [answer for answer in compared if answer.best.vector == answer.greedy.vector]
    optimal = sum(answer.best.proven for answer in equal)
    n = len(compared)
    return GreedyShare(
        variant=variant,
        family=family,
        n=n,
        optimal=optimal,
        behind=n - len(equal),
        unknown=len(equal) - optimal,
        inadmissible=len(answers) - n,
        lowest=optimal / n if n else None,
        highest=len(equal) / n if n else None,
    )
