"""What spread constraints, budgets, pod groups and devices look like in each state of a round."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from ...framework.index.missing import selected
from ...framework.measures.skew import domain_counts
from ...framework.rules.budgets import budgets
from ...framework.rules.spread import SpreadConstraint, constraints_of, group_key
from ...solver.plans.topology import natural, topology

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Mapping

    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State
    from ...models.plan import Plan
    from ...models.topology import SeatedDevice, Topology
    from ...solver.plans.outcome import SolvedRound

_MOST_DOMAINS: Final = 12
"""Domains of a constraint that are counted one by one; where there are more, they are grouped by count."""


def spread_rows(cluster: Cluster, states: Mapping[str, State]) -> list[dict[str, Any]]:
    """Return the spread constraints of the pods that wait: matching pods by domain and skew in each state.

    Pods whose constraints count the same pods by the same rule share a row. `skew` is how far the fullest
    domain is above the minimum (0 where `minDomains` is not reached); None where no node takes part.
    """
    carriers: dict[Hashable, list[int]] = {}
    parsed: dict[Hashable, SpreadConstraint] = {}
    for i in cluster.pending:
        for constraint in constraints_of(cluster, i):
            key = (group_key(cluster, i, constraint), constraint.is_hard)
            parsed.setdefault(key, constraint)
            carriers.setdefault(key, []).append(i)
    return [_spread_row(cluster, states, carriers[key], constraint) for key, constraint in parsed.items()]


def _spread_row(
    cluster: Cluster, states: Mapping[str, State], carriers: list[int], constraint: SpreadConstraint
) -> dict[str, Any]:
    values = cluster.domains(constraint.topology_key).values
    found = {}
    for name, state in states.items():
        now = domain_counts(cluster, state, carriers[0], constraint)
        found[name] = {
            "counts": _domains({values[d]: number for d, number in now.counts.items()}),
            "skew": max(now.counts.values()) - now.minimum if now.counts else None,
        }
    return {
        "namespace": constraint.namespace,
        "pods": selected(constraint.selector).removeprefix("with "),
        "key": constraint.topology_key,
        "when": constraint.when,
        "fallenBack": constraint.fallen_back,
        "hard": constraint.is_hard,
        "maxSkew": constraint.max_skew,
        "minDomains": constraint.min_domains,
        "carriers": len(carriers),
        "states": found,
    }


def _domains(counts: Mapping[str, int]) -> list[str]:
    if len(counts) <= _MOST_DOMAINS:
        return [f"{domain}: {counts[domain]}" for domain in sorted(counts, key=natural)]
    alike = Counter(counts.values())
    return [f"{alike[number]} domains with {number}" for number in sorted(alike, reverse=True)]


def budget_rows(cluster: Cluster, plans: Mapping[str, Plan]) -> list[dict[str, Any]]:
    """Return what budgets allow and what each plan uses: evicted pods that charge it, and refused ones."""
    rows = []
    for budget in budgets(cluster):
        used = {}
        for name, plan in plans.items():
            evicted = [e for e in plan.evictions if budget.charges(cluster, cluster.pod_index[e.pod])]
            violating = sum(budget.key in e.violates for e in plan.evictions)
            used[name] = {"evicted": len(evicted), "violating": violating}
        rows.append({"budget": budget.key, "allowed": budget.allowed, "used": used})
    return sorted(rows, key=lambda row: -max(used["evicted"] for used in row["used"].values()))


def seats(rounds: Mapping[str, SolvedRound], key: str | None) -> dict[str, Any]:
    """Return pod groups and devices after each plan, as `solve --show topology` has them."""
    seen = {name: topology(solved, key) for name, solved in rounds.items()}
    return {"groups": _groups(seen), "devices": _devices(seen), "key": next(iter(seen.values())).key}


def _groups(seen: Mapping[str, Topology]) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for name, picture in seen.items():
        for group in picture.groups:
            row = rows.setdefault(
                group.pod_group,
                {
                    "group": group.pod_group,
                    "waiting": group.waiting,
                    "minCount": group.min_count,
                    "after": {},
                },
            )
            row["after"][name] = {
                "placed": group.placed,
                "standing": group.standing,
                "domains": ["without the label" if d is None else d for d in group.domains],
            }
    return list(rows.values())


def _devices(seen: Mapping[str, Topology]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, picture in seen.items():
        for place, device in _seated(picture):
            row = rows.setdefault(
                (place, device.device), {"device": device.device, "place": place, "after": {}}
            )
            row["after"][name] = {
                "state": device.state,
                "placed": device.placed,
                "holders": list(device.holders),
            }
    return list(rows.values())


def _seated(picture: Topology) -> Iterator[tuple[str, SeatedDevice]]:
    for domain in picture.domains:
        for node in domain.nodes:
            yield from ((node.node, device) for device in node.devices)
        yield from ((domain.domain or "", device) for device in domain.devices)
    yield from (("", device) for device in picture.devices)
