"""From a file of best known values (`best-known.yaml`) to what is known of each round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...models.suite import KnownInstance, KnownTier, is_beyond
from ...models.tiers import sense_of
from ..documents import the_document
from ..files import read_file
from ..raw_objects import plain
from ..scenario_reader import REQUIRED, Section

SCHEDULERS = ("greedy", "optimal")


def load_known(path: str) -> dict[str, KnownInstance]:
    """Read what is known of the rounds of a suite; nothing where there is no file.

    Raises
    ------
    InputError
        For anything that is not such a file.
    """
    if not Path(path).exists():
        return {}
    file, content = read_file(path, "best known values")
    top = Section(file, "", plain(the_document(file, content, "best known values")))
    instances = top.section("instances", required=True)
    found = {name: _instance(instances.section(name)) for name in top.mapping("instances")}
    top.close()
    return found


def _instance(section: Section) -> KnownInstance:
    for scheduler in SCHEDULERS:
        if not section.has(scheduler):
            raise section.fault(scheduler, "required")
    found = KnownInstance(
        input=section.text("input"),
        rules=section.text("rules"),
        tiers={name: tuple(map(_tier, section.sections(name))) for name in SCHEDULERS},
    )
    section.close()
    return found


def _tier(section: Section) -> KnownTier:
    bound = section.given("bound", _integer, None)
    by = section.text("by")
    tier = KnownTier(
        name=section.text("tier"),
        sense=section.given("sense", _sense, REQUIRED),
        value=section.given("value", _integer, REQUIRED),
        by=by,
        bound=bound,
        bound_by="" if bound is None else section.text("boundBy", by),
    )
    section.close()
    if not tier.name:
        raise section.fault("tier", "must name a tier, like scheduled[priority=0]")
    if (right := sense_of(tier.name)) not in (None, tier.sense):
        raise section.fault("sense", f"must be {right} for the tier {tier.name}, not {tier.sense!r}")
    if tier.bound is not None and is_beyond(tier.sense, tier.value, tier.bound):
        raise section.fault("bound", f"the value {tier.value} is beyond it")
    return tier


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"must be a whole number, not {value!r}")
    return value


def _sense(value: Any) -> Any:
    if value not in ("max", "min"):
        raise ValueError(f"must be max or min, not {value!r}")
    return value
