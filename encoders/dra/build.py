"""Build the devices and claims of a round as encoders see them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...framework.dra.index import device_index
from ...framework.dra.pod_claims import ClaimProblem
from .identity import identities_matter
from .problem import DeviceProblem

if TYPE_CHECKING:
    from ...framework.index.cluster import Cluster
    from ...framework.state.state import State


def device_problem(cluster: Cluster, state: State) -> DeviceProblem | None:
    """Classify the claims of a round; None where no pending pod needs devices."""
    index = device_index(cluster)
    if index is None or state.claims is None or not any(index.needs_devices(i) for i in cluster.pending):
        return None
    problem = DeviceProblem(cluster, index, state.claims)
    users: dict[str, list[int]] = {}
    grouped: set[str] = set()
    needing = [i for i in cluster.pending if index.needs_devices(i)]
    following = [i for i in cluster.pending if index.follows(i)]
    for i in (*needing, *following, *cluster.gated, *cluster.untried):
        try:
            claims = index.claims_of(i)
        except ClaimProblem:
            problem.blocked.add(i)
            continue
        for claim in claims:
            users.setdefault(claim.key, []).append(i)
            if claim.group:
                grouped.add(claim.key)
    looking = set(needing)
    problem.private = dict.fromkeys(cluster.pending, ())
    for i in needing:
        own = () if i in problem.blocked else tuple(claim.key for claim in index.claims_of(i))
        problem.private[i] = tuple(
            key
            for key in own
            if users[key] == [i]
            and key not in grouped
            and key not in state.claims.allocations
            and not state.claims.reserved.get(key)
        )
        for key in own:
            if key not in problem.private[i]:
                problem.common[key] = [j for j in users[key] if j in looking]
    problem.sort_devices(matter=identities_matter(problem))
    return problem
