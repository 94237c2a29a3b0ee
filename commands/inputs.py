"""What the commands share: how an instance is read and how a round is searched, as options and as values."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import click

from .live import target_of, wants_live
from .options import options
from .voice import is_verbose, news, note, progress_told

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from click.shell_completion import CompletionItem

    from ..models.eviction_limits import EvictionLimits, PodSelector
    from ..models.features import FeatureGates
    from ..models.kube_version import KubeVersion
    from ..models.snapshot import Snapshot
    from ..solver.options import SolveOptions

OPENB: Final = "openb"


def complete_instance(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the names of bundled instances, and leave paths to the shell."""
    from click.shell_completion import CompletionItem

    from ..instances import catalogue

    names = [CompletionItem(name) for name in catalogue.names() if name.startswith(incomplete)]
    return [*names, CompletionItem(incomplete, type="file")]


def complete_waiting_pod(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer instances for the first word, and for the second one the pods that wait in that instance."""
    from click.shell_completion import CompletionItem

    from ..instances import catalogue
    from ..instances.manifests import load_snapshot
    from ..models.errors import KubestowError

    given = [*(ctx.params.get("instances") or ()), ctx.params.get("pod")]
    words = [word for word in given if word]
    if not words or words[0] == "-":
        return [] if words else complete_instance(ctx, param, incomplete)
    try:
        pods = load_snapshot(catalogue.locate(words[0])).pods
    except KubestowError:  # it is told when the command runs
        return []
    waiting = [pod for pod in pods if not pod.spec.node_name and not pod.is_terminal]
    namespace = ctx.params.get("namespace")
    if namespace is None:
        names = [pod.key for pod in waiting]
    else:
        names = [pod.name for pod in waiting if pod.namespace == namespace]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def complete_kube_version(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Offer the releases that are known; `--against` takes another one than `--kube-version`."""
    from click.shell_completion import CompletionItem

    from ..models.kube_version import KubeVersion

    taken = None if param.name == "kube_version" else ctx.params.get("kube_version")
    known = [version.value for version in KubeVersion if version != taken]
    return [CompletionItem(value) for value in known if value.startswith(incomplete)]


def stdin_once(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Refuse arguments that would read standard input twice."""
    refuse_twice(value, ctx)
    return value


def refuse_twice(paths: Sequence[str], ctx: click.Context | None = None) -> None:
    """Refuse paths of which two are standard input: the second time it is empty."""
    if paths.count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once", ctx)


def parse_now(ctx: click.Context, param: click.Parameter, value: str | None) -> datetime | None:
    """Read ``--now``: a time as Kubernetes writes it."""
    from datetime import UTC, datetime

    if value is None:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise click.BadParameter(f"'{value}' is not a time such as 2026-05-04T08:00:00Z") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def parse_kube_version(ctx: click.Context, param: click.Parameter, value: str | None) -> KubeVersion | None:
    """Read a release as ``--kube-version`` and ``--against`` name it."""
    from ..models.kube_version import KubeVersion

    return None if value is None else KubeVersion.parse(value, option=param.opts[0])


kube_version_option = click.option(
    "--kube-version",
    metavar="VERSION",
    default="1.36",
    show_default=True,
    callback=parse_kube_version,
    shell_complete=complete_kube_version,
    help="Whose kube-scheduler: 1.34, 1.36 or 1.37 (docs/releases.md).",
)
input_options = options(
    click.option(
        "--now", metavar="TIME", callback=parse_now, help="Time of the round.  [default: newest in the input]"
    ),
    click.option("--expand", is_flag=True, help="Make pending pods of workloads that have none."),
    click.option(
        "--feature-gates",
        metavar="NAME=false,...",
        default="",
        help="Switch off what the input uses.",
    ),
    kube_version_option,
    click.option(
        "--format",
        "input_format",
        type=click.Choice(["manifests", OPENB]),
        default="manifests",
        show_default=True,
        help="What the input is; openb takes two files, NODES.csv and PODS.csv (docs/openb.md).",
    ),
    click.option(
        "--format-options",
        metavar="NAME=VALUE,...",
        default="",
        help="For openb: nodes=N, pods=N, shuffle=SEED, gpus=devices|summed, qos=true.",
    ),
)


def parse_pods(ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[PodSelector, ...]:
    """Read pods by namespace and labels, as ``--never-evict`` has them."""
    from ..models.eviction_limits import PodSelector

    try:
        return tuple(PodSelector.parse(text) for text in value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


limit_options = options(
    click.option("--no-evictions", is_flag=True, help="Evict no pod: the same as --max-evictions 0."),
    click.option(
        "--max-evictions",
        type=click.IntRange(min=0),
        metavar="N",
        help="Evict at most N pods in the whole round.  [default: any number]",
    ),
    click.option(
        "--max-violations",
        type=click.IntRange(min=0),
        metavar="N",
        help="Let at most N evictions violate a disruption budget.  [default: any number]",
    ),
    click.option(
        "--never-evict",
        metavar="[NAMESPACE:]SELECTOR",
        multiple=True,
        callback=parse_pods,
        help="Pods that stay, by their labels as in -l; NAMESPACE: for all of a namespace. May be repeated.",
    ),
)
effort_options = options(
    click.option(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        default=60.0,
        show_default=True,
        help="For all but reading; when it is up, the best plan so far is the answer (docs/model.md).",
    ),
    click.option("--workers", type=int, metavar="N", help="Threads of the solver.  [default: all cores]"),
    click.option(
        "--seed", type=int, metavar="N", default=0, show_default=True, help="Seed of the solver's search."
    ),
)
prefer_option = click.option(
    "--prefer",
    type=click.Choice(["none", "scores", "pack", "spread"]),
    default="none",
    show_default=True,
    help="What to prefer among plans that are equal in all else.",
)
search_options = options(
    effort_options,
    prefer_option,
    click.option(
        "--engine",
        type=click.Choice(["local", "dask"]),
        default="local",
        show_default=True,
        help="Where independent parts run: processes of this machine, or a Dask cluster (docs/studies.md).",
    ),
    click.option(
        "--dask",
        metavar="ADDRESS",
        help="A Dask scheduler, such as tcp://host:8786.  [default: one is started]",
    ),
    limit_options,
)
several_instances = click.argument(
    "instances",
    nargs=-1,
    metavar="[INSTANCE]...",
    callback=stdin_once,
    shell_complete=complete_instance,
)


def instance_names(arguments: Sequence[str], choices: Mapping[str, Any]) -> list[str]:
    """Return the names of the rounds that the arguments stand for: one each, or one for openb's two files.

    Without arguments it is the first bundled instance; a live cluster has its name from kubectl.
    """
    if wants_live(arguments, choices):
        return ["live"]
    if choices["input_format"] == OPENB:
        if len(arguments) != 2:
            raise click.UsageError(
                f"--format openb takes two files, NODES.csv and PODS.csv, not {len(arguments)}"
            )
        return [" ".join(arguments)]
    if choices["format_options"]:
        raise click.UsageError("--format-options goes with --format openb only")
    if arguments:
        return list(arguments)
    from ..instances import catalogue

    return [catalogue.names()[0]]


class Loaded(NamedTuple):
    """An instance, and the seconds that it took to read it."""

    snapshot: Snapshot
    seconds: float


def snapshots(arguments: Sequence[str], choices: Mapping[str, Any]) -> Iterator[Loaded]:
    """Load one instance after the other, each under the name that the user gave it."""
    from dataclasses import replace

    from ..instances import catalogue
    from ..instances.manifests import load_snapshot
    from ..models.features import FeatureGates

    gates = FeatureGates.parse(choices["feature_gates"])
    names = instance_names(arguments, choices)
    if wants_live(arguments, choices):
        yield _live(choices, gates)
        return
    if choices["input_format"] == OPENB:
        from ..instances.openb import load_openb
        from ..instances.openb_options import OpenbOptions

        wanted = OpenbOptions.parse(choices["format_options"])
        nodes, pods = arguments
        start = time.monotonic()
        with progress_told() as progress:
            snapshot = load_openb(
                nodes, pods, wanted, now=choices["now"], feature_gates=gates, watch=progress.watch
            )
        tell_read(snapshot)
        yield Loaded(replace(snapshot, kube_version=choices["kube_version"]), time.monotonic() - start)
        return
    for name in names:
        start = time.monotonic()
        with progress_told() as progress:
            snapshot = load_snapshot(
                [catalogue.locate(name)],
                now=choices["now"],
                expand=choices["expand"],
                feature_gates=gates,
                watch=progress.watch,
            )
        yield _told(replace(snapshot, name=name), choices, start)


def _live(choices: Mapping[str, Any], gates: FeatureGates) -> Loaded:
    start = time.monotonic()
    snapshot = live_cluster(choices, gates, now=choices["now"], expand=choices["expand"])
    return _told(snapshot, choices, start)


def live_cluster(
    choices: Mapping[str, Any], gates: FeatureGates, *, now: datetime | None = None, expand: bool = False
) -> Snapshot:
    """Read the cluster that kubectl reaches; what is to be told about it is not told."""
    from ..instances.live.cluster import live_snapshot

    with progress_told() as progress:
        return live_snapshot(
            target_of(choices), now=now, expand=expand, feature_gates=gates, watch=progress.watch
        )


def _told(snapshot: Snapshot, choices: Mapping[str, Any], start: float) -> Loaded:
    """Return a snapshot for the release that is asked for, with all notes; what is to be told is told."""
    from dataclasses import replace

    snapshot = replace(snapshot, kube_version=choices["kube_version"])
    notes = notes_of(snapshot)
    tell(snapshot.name, notes)
    snapshot = replace(snapshot, notes=tuple(notes))
    tell_read(snapshot)
    return Loaded(snapshot, time.monotonic() - start)


def tell_read(snapshot: Snapshot) -> None:
    """Write to stderr what was read, where that is wanted."""
    if is_verbose():
        from ..reports.narration import what_was_read

        news(what_was_read(snapshot))


def notes_of(snapshot: Snapshot) -> list[str]:
    """Return the notes about an input, one line each."""
    from ..framework.rules.hierarchy import overlooked_parents
    from ..instances.missing_kinds import missing_kinds

    kinds = ", ".join(f"{number} {kind}" for kind, number in sorted(snapshot.ignored.items()))
    ignored = [f"kinds that play no part: {kinds}"] if kinds else []
    return [*ignored, *snapshot.notes, *missing_kinds(snapshot), *overlooked_parents(snapshot)]


def tell(name: str, notes: Iterable[str]) -> None:
    """Write notes to stderr."""
    for words in notes:
        where = "" if words.startswith(f"{name}: ") else f"{name}: "
        note(f"{where}{words}")


def with_notes(document: dict[str, Any], snapshot: Snapshot) -> dict[str, Any]:
    """Add the notes about its input to a document, if there are any."""
    return {**document, "notes": list(snapshot.notes)} if snapshot.notes else document


def limits_of(choices: Mapping[str, Any]) -> EvictionLimits:
    """Read the limits on evictions."""
    from ..models.eviction_limits import EvictionLimits

    evictions = choices["max_evictions"]
    if choices["no_evictions"]:
        if evictions:
            raise click.UsageError(f"--no-evictions and --max-evictions {evictions} do not go together")
        evictions = 0
    return EvictionLimits(evictions, choices["max_violations"], choices["never_evict"])


def effort_of(choices: Mapping[str, Any]) -> SolveOptions:
    """Read how much a search may take, where the command has no other options of a search."""
    from ..solver.options import SolveOptions

    given = {name: choices[name] for name in ("time_limit", "workers", "seed")}
    return SolveOptions(**{name: value for name, value in given.items() if value is not None})


def search_of(choices: Mapping[str, Any]) -> SolveOptions:
    """Read the options of a search."""
    from ..solver.options import SolveOptions

    given = {name: choices[name] for name in ("time_limit", "workers", "seed", "prefer", "engine", "dask")}
    given["limits"] = limits_of(choices)
    search = SolveOptions(**{name: value for name, value in given.items() if value is not None})
    if search.engine != "local":
        from ..solver.decomposition.engine import require_engine

        require_engine(search)
    return search
