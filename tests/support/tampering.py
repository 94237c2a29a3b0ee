"""Plans that are not so: each changes one thing of an honest one."""

from collections.abc import Callable
from dataclasses import dataclass

from kubestow.models.plan import Plan


@dataclass(frozen=True)
class Tampering:
    name: str
    change: Callable[[Plan], Plan]
    words: str

    def title(self):
        return self.name


def steps(*taken):
    return lambda plan: plan.model_copy(update={"steps": taken})


def lists(**fields):
    return lambda plan: plan.model_copy(update={name: make(plan) for name, make in fields.items()})


def tier(number, **fields):
    def change(plan):
        tiers = list(plan.tiers)
        tiers[number] = tiers[number].model_copy(update=fields)
        return plan.model_copy(update={"tiers": tuple(tiers)})

    return change
