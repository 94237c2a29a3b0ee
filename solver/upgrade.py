"""What an upgrade of kube-scheduler changes for a cluster: greedy by the rules of two releases."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..models.plan import ChangedPod, ChangedTier, PodChange, Upgrade
from ..models.progress import unwatched
from .api import solve_greedy_round

if TYPE_CHECKING:
    from ..models.kube_version import KubeVersion
    from ..models.plan import Plan
    from ..models.progress import Watch
    from ..models.snapshot import Snapshot


def upgrade(snapshot: Snapshot, against: KubeVersion, watch: Watch = unwatched) -> Upgrade:
    """Run greedy as the snapshot's release and as another one.

    Parameters
    ----------
    snapshot : Snapshot
        Its `kube_version` is the release before the upgrade.
    against : KubeVersion
        The release after it.
    watch : Watch
        Hears of the pods that greedy has tried.

    Raises
    ------
    KubestowError
        Where either release needs what is not solved.
    """
    before = solve_greedy_round(snapshot, watch=watch).plan
    after = solve_greedy_round(replace(snapshot, kube_version=against), watch=watch).plan
    tiers = _tiers(before, after)
    return Upgrade(
        kube_version=snapshot.kube_version,
        against=against,
        before=before,
        after=after,
        tiers=tiers,
        first_difference=next((tier.name for tier in tiers if tier.before != tier.after), None),
        pods=tuple(_pods(before, after)),
    )


def _tiers(before: Plan, after: Plan) -> tuple[ChangedTier, ...]:
    """Set the tiers side by side; a tier that one release lacks counts as 0 there."""
    old, new = ({tier.name: tier for tier in plan.tiers} for plan in (before, after))
    return tuple(
        ChangedTier(
            name=name,
            sense=(new.get(name) or old[name]).sense,
            before=old[name].value if name in old else 0,
            after=new[name].value if name in new else 0,
        )
        for name in dict.fromkeys((*new, *old))
    )


def _pods(before: Plan, after: Plan) -> list[ChangedPod]:
    """List the pods with another fate, by name."""
    old, new = before.placed(), after.placed()
    gone, going = ({item.pod for item in plan.evictions} for plan in (before, after))
    fates = {pod: (old.get(pod), new.get(pod)) for pod in sorted(old.keys() | new.keys())}
    found = [
        ChangedPod(pod=pod, before=there, after=then, change=_change(there, then))
        for pod, (there, then) in fates.items()
        if there != then
    ]
    told = {item.pod for item in found}
    found += [
        ChangedPod(pod=pod, before=None, after=None, change="evicted" if pod in going else "spared")
        for pod in sorted(gone ^ going)
        if pod not in told
    ]
    return found


def _change(before: str | None, after: str | None) -> PodChange:
    if before is None:
        return "starts"
    return "waits" if after is None else "moves"
