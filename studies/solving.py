"""One run: its instance is read or made, changed as its variant says, and solved once."""

from __future__ import annotations

import time
import traceback
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ..instances.what_if.apply import changed_by
from ..instances.what_if.file import load_changes, load_profile
from ..models.changes import ChangeSet, UseProfile
from ..models.errors import KubestowError, is_interrupt
from ..models.eviction_limits import EvictionLimits
from ..models.features import FeatureGates
from ..models.study_row import StudyRow
from ..solver.api import SolveOptions, load_solver, solve_greedy_round, solve_round
from ..solver.what_if import settled
from .rows import Solved, about_run, failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..models.plan import Plan, Tier
    from ..models.snapshot import Snapshot
    from .plan import Run

BEGUN: Final = "begun"
"""What a run tells of itself before anything else."""


def solve_run(shared: object, run: Run, report: Callable[[Any], None]) -> Solved:
    """Solve one run; the function that engines run (`solver.decomposition.base`)."""
    report(BEGUN)
    load_solver()  # on a worker of Dask's it would take of the first run's time
    start = time.monotonic()
    try:
        snapshot, digest = _loaded(run)
        return _solved(run, snapshot, digest, time.monotonic() - start)
    except KubestowError as error:
        return failed(run, str(error))
    except Exception as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from None
        traceback.print_exc()
        return failed(run, f"a bug in kubestow: {type(error).__name__}: {error}")


def _loaded(run: Run) -> tuple[Snapshot, str]:
    instance, variant = run.instance, run.conditions.variant
    snapshot, digest = instance.origin.load(instance.name, FeatureGates.parse(variant.feature_gates))
    if instance.digest and digest != instance.digest:
        raise KubestowError(f"{instance.name}: has changed since the study was begun; begin it again")
    limits = EvictionLimits(variant.max_evictions, variant.max_violations)
    snapshot = replace(snapshot, kube_version=variant.kube_version, limits=limits)
    return _changed(run, snapshot), digest


def _changed(run: Run, snapshot: Snapshot) -> Snapshot:
    sets = [load_changes(path) for path in run.conditions.changes]
    if run.conditions.configuration is not None:
        profile = UseProfile(load_profile(run.conditions.configuration))
        sets.insert(0, ChangeSet(name=run.conditions.configuration, changes=(profile,)))
    for change_set in sets:
        snapshot, _ = settled(snapshot, changed_by(snapshot, change_set))
    return snapshot


def _solved(run: Run, snapshot: Snapshot, digest: str, waited: float) -> Solved:
    prefer = run.conditions.variant.prefer
    if run.scheduler == "greedy":
        plan = solve_greedy_round(snapshot, prefer, waited=waited).plan
    else:
        options = SolveOptions(
            time_limit=run.time_limit, workers=run.threads, seed=run.seed or 0, prefer=prefer
        )
        plan = solve_round(snapshot, options, waited=waited).plan
    pods = [pod for pod in snapshot.pods if not pod.is_terminal]
    about = about_run(run, digest) | {
        "nodes": len(snapshot.nodes),
        "pending": len(plan.placed()) + len(plan.unschedulable),
        "running": sum(bool(pod.spec.node_name) for pod in pods),
        "status": plan.status,
        "admissible": plan.stats.admissible,
        "seconds": plan.stats.wall_seconds,
    }
    rows = tuple(StudyRow(**about, **_tier(plan, n, tier)) for n, tier in enumerate(plan.tiers))
    # A round without pods has no tiers, and is a run all the same.
    return Solved(rows or (StudyRow(**about),), plan.stats.interrupted)


def _tier(plan: Plan, number: int, tier: Tier) -> dict[str, Any]:
    times = [point.seconds for point in plan.stats.progress if point.tier == tier.name]
    return {
        "number": number,
        "tier": tier.name,
        "sense": tier.sense,
        "value": tier.value,
        "bound": tier.bound,
        "proven": tier.proven,
        "tier_seconds": times[-1] if times else None,
    }
