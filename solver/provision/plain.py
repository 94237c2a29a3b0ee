"""Rounds in which numbers tell what passes: pods look at room, labels, taints and spread alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ...encoders import ENCODERS
from ...framework.rules.groups import groups
from ...framework.rules.spread import hard_constraints
from ...framework.vocabulary import names
from ..plans.topology import HOSTNAME

if TYPE_CHECKING:
    from .sample import Sample

# The families of a round in which numbers tell all. Those of gangs, evictions and devices always apply: that
# there are none is asked for apart.
_KNOWN: Final = frozenset(
    {
        names.PRIORITY_SORT,
        names.NODE_RESOURCES_FIT,
        names.POD_TOPOLOGY_SPREAD,
        names.GANG_SCHEDULING,
        names.DEFAULT_PREEMPTION,
        names.DYNAMIC_RESOURCES,
    }
)


def is_plain(sample: Sample) -> bool:
    """Whether pods that wait look at no more than room, labels, taints, and spread over larger domains."""
    problem = sample.problem
    cluster = problem.cluster
    wide = all(
        constraint.topology_key != HOSTNAME
        for cls in problem.classes
        for constraint in hard_constraints(cluster, cls.pod)
    )
    return (
        wide
        and not problem.victims
        and problem.devices is None
        and not problem.state.nominated
        and not any(group.pending for group in groups(cluster))
        and all(family.name in _KNOWN for family in ENCODERS if family.applies(problem))
    )
