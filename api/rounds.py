"""Questions about one round: the functions of the Python interface, one for each command."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..models.errors import KubestowError
from .arguments import one_of, text, whole
from .builders.pods import PodBuilder
from .checks import stored
from .clusters import Instance, snapshot_from
from .results import Answer, Compared, Fitted, Simulated, Solution
from .search import search_options

if TYPE_CHECKING:
    from ..simulation.engine import SchedulerFactory
    from ..solver.options import ProgressCallback


def solve(instance: Instance, *, progress: ProgressCallback | None = None, **search: Any) -> Solution:
    """Return the best round, with a bound for every tier.

    Parameters
    ----------
    instance : Cluster, Snapshot, str or Path
    progress : callable, optional
        Hears of the tiers while they are searched.
    **search
        Fields of `kubestow.solver.options.SolveOptions`: `time_limit` (seconds), `workers`, `seed`, `prefer`
        (none, scores, pack, spread), `engine`, `dask`, `limits`.

    Raises
    ------
    KubestowError
        Where the round cannot be read, or needs what is not built.
    """
    from ..solver.api import solve as solve_round

    return Solution(solve_round(snapshot_from(instance), search_options(search), progress))


def greedy(instance: Instance, *, prefer: str = "none") -> Solution:
    """Return what kube-scheduler does, run until nothing changes."""
    from ..solver.api import solve_greedy

    return Solution(solve_greedy(snapshot_from(instance), prefer))


def compare(
    instance: Instance,
    *,
    without_evictions: bool = False,
    progress: ProgressCallback | None = None,
    **search: Any,
) -> Compared:
    """Return both schedulers side by side; `search` as in `solve`."""
    from ..solver.compare import compare as compare_both

    found = compare_both(
        snapshot_from(instance), search_options(search), progress, without_evictions=without_evictions
    )
    return Compared(found)


def why(instance: Instance, name: str, *, progress: ProgressCallback | None = None, **search: Any) -> Answer:
    """Return why a pod or group waits, with a proof (docs/why.md); `search` as in `solve`.

    Parameters
    ----------
    name : str
        `namespace/name` of a waiting pod or of a pod group, or the name alone where it is the only one.
    """
    from ..solver.why.question import why as ask

    text("name", name)
    return Answer(ask(snapshot_from(instance), name, search_options(search), progress))


def explain(instance: Instance, pod: str, *, alone: bool = False) -> Answer:
    """Return what greedy meets, node by node (docs/explain.md).

    Parameters
    ----------
    pod : str
        `namespace/name`, or the name alone where it is the only one.
    alone : bool
        Whether the pod is tried before all others instead of at its turn.
    """
    from ..framework.runs.explain import explain as explain_pod

    text("pod", pod)
    return Answer(explain_pod(snapshot_from(instance), pod, alone=alone))


def fit(
    instance: Instance,
    pod: PodBuilder | str | Path,
    *,
    most: int | None = None,
    evict: bool = False,
    ignore_pending: bool = False,
    **search: Any,
) -> Fitted:
    """Return how many copies of a pod fit; `search` as in `solve`.

    Parameters
    ----------
    pod : PodBuilder, str or Path
        What is copied: a pod under construction, a pod of the instance by its name, or a file (a Path).
    most : int, optional
        Stop at so many.
    evict : bool
        Whether less important pods may be evicted.
    ignore_pending : bool
        Whether pods that wait are left out.
    """
    from ..instances.template import load_template, template_of
    from ..models.admission import PriorityClasses
    from ..models.template import Template
    from ..solver.fit import FitOptions
    from ..solver.fit import fit as fit_copies

    if most is not None:
        whole("most", most, 1)
    snapshot = snapshot_from(instance)
    if isinstance(pod, Path):
        copied = load_template(pod, snapshot)
    elif isinstance(pod, str):
        copied = template_of(snapshot, pod)
    elif isinstance(pod, PodBuilder):
        copied = Template(pod=stored(pod.build(), PriorityClasses(snapshot.priority_classes)))
    else:
        raise KubestowError(f"{pod!r} is no pod: a builder, the name of a pod, or a Path is one")
    wanted = FitOptions(most=most, evict=evict, ignore_pending=ignore_pending)
    return Fitted(fit_copies(snapshot, copied, wanted, search_options(search)))


def simulate(
    scenario: str | Path, *, scheduler: Literal["greedy", "optimal", "both"] = "greedy"
) -> Simulated:
    """Run a cluster through time (docs/simulate.md).

    Parameters
    ----------
    scenario : str or Path
        A file, or the name of a bundled scenario.
    """
    from ..instances import catalogue, scenarios
    from ..instances.scenario_loader import load_scenario
    from ..models.features import FeatureGates
    from ..simulation.engine import Simulation
    from ..simulation.greedy import GreedyScheduler
    from ..simulation.summary import document_of
    from ..solver.simulate import OptimalScheduler

    loaded = load_scenario(scenarios.locate(str(scenario)), catalogue.locate, FeatureGates())
    schedulers: dict[str, SchedulerFactory] = {"greedy": GreedyScheduler, "optimal": OptimalScheduler}
    one_of("scheduler", scheduler, (*schedulers, "both"))
    chosen = tuple(schedulers) if scheduler == "both" else (scheduler,)
    runs = {name: Simulation(loaded, schedulers[name]) for name in chosen}
    for run in runs.values():
        run.run()
    return Simulated(document_of(loaded, runs))
