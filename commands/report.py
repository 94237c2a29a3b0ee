"""The command for reports that people look at: `kubestow report`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from .help import Command
from .inputs import OPENB, complete_instance, input_options, snapshots
from .study_report import is_study, page_of_study
from .voice import note, progress_told, voice_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..framework.index.cluster import Cluster
    from ..models.snapshot import Snapshot
    from ..reports.html.reading import Document, Rounds
    from ..reports.html.timeline import Timeline
    from ..solver.plans.outcome import SolvedRound

_NONE: Final = "none"


@click.command(
    cls=Command,
    epilog="""\b
Examples:
  kubestow report before.json --instance cluster.yaml -o report.html
  kubestow report before.json --instance cluster.yaml --plot utilisation.svg
  kubestow compare zone-spread-dead-end -o json | kubestow report - -o report.html
  kubestow report simulation.json --log events.jsonl -o report.html
  kubestow report study.json --plot gaps.pdf
""",
)
@click.argument("document", metavar="DOCUMENT", type=click.Path(allow_dash=True))
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="The page (HTML), `-` for standard output.",
)
@click.option(
    "--instance",
    metavar="INSTANCE",
    multiple=True,
    shell_complete=complete_instance,
    help="What the plan was made for, 'none' for a page without it; with --format openb its two files, "
    "each with an option of its own.  [default: what the document names]",
)
@click.option(
    "--topology-key",
    metavar="LABEL",
    help="The node label whose values are the racks.  [default: what pod groups name, else zones]",
)
@click.option(
    "--why",
    "whys",
    metavar="FILE",
    multiple=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="What explain --why -o json says of a pod that waits; may be repeated.",
)
@click.option("--log", metavar="FILE", type=click.Path(dir_okay=False), help="Events of simulate --log.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(dir_okay=False),
    help="One figure for a paper, as its name ends: .svg, .png or .pdf.",
)
@click.option(
    "--figure",
    type=click.Choice(["utilisation", "tiers", "progress", "timeline"]),
    help="Which one.  [default: what the document has]",
)
@voice_options
@input_options
def report(
    document: str,
    output: str | None,
    instance: tuple[str, ...],
    topology_key: str | None,
    whys: tuple[str, ...],
    log: str | None,
    plot: str | None,
    figure: str | None,
    **choices: Any,
) -> None:
    """Make a page of a plan, a comparison, a study or a simulation that people look at.

    DOCUMENT is what `kubestow solve`, `compare` (with --against as well), `study` or `simulate` printed with
    `-o json` or `-o yaml`, `-` for standard input, or the folder of `study --into`. The page is one file that
    loads nothing: the cluster by zone and rack, both schedulers beside each other, what moved and why. A plan
    is replayed on its instance first.
    """
    from ..instances.documents import the_document
    from ..instances.files import read_file
    from ..reports.html.reading import WANTED, Rounds, Simulated, read_document

    if output is None and plot is None:
        raise click.UsageError("what is needed is -o FILE for a page, or --plot FILE for a figure")
    if [document, *instance, *whys, log].count("-") > 1:
        raise click.UsageError("standard input (-) can be read only once")
    if figure is not None and plot is None:
        raise click.UsageError("--figure goes with --plot only")
    if is_study(document):
        if output is None or plot or instance or log or topology_key:
            words = (
                f"a page alone, with -o FILE; `kubestow study-report {document} --plot FILE` draws figures"
            )
            raise click.UsageError(f"of a study's folder there is {words}")
        _write(output, page_of_study(document))
        return
    name, content = read_file(document, "one document")
    read = read_document(name, the_document(name, content, WANTED))
    if log is not None and not isinstance(read, Simulated):
        raise click.UsageError("--log goes with the document of kubestow simulate only")
    if not isinstance(read, Rounds) and (instance or topology_key):
        raise click.UsageError("--instance and --topology-key go with a plan or a comparison only")
    if not isinstance(read, Rounds) and whys:
        raise click.UsageError("--why goes with a plan or a comparison only")
    solved = _solved(read, instance, choices) if isinstance(read, Rounds) else None
    timelines = _timelines(read, log)
    proven = _proven(read, whys)
    if plot is not None:
        from ..reports.figures import draw

        draw(plot, read, figure, solved, timelines)
    if output is not None:
        _write(output, _page(read, solved, timelines, topology_key, proven))


def _write(output: str, text: str) -> None:
    from ..reports.output_file import output_file

    with output_file(output) as file:
        file.write(text)


def _page(
    read: Document,
    solved: Mapping[str, SolvedRound] | None,
    timelines: Mapping[str, Timeline] | None,
    key: str | None,
    proven: Mapping[str, str],
) -> str:
    from ..models.errors import KubestowError
    from ..models.study import Study
    from ..reports.html.reading import INSTALL, Rounds

    try:
        from ..reports.html.page import round_page, simulation_page, study_page
    except ModuleNotFoundError as error:
        raise KubestowError(f"kubestow report needs {error.name}: {INSTALL}") from None

    if isinstance(read, Rounds):
        return round_page(read, solved, key, proven)
    return study_page(read) if isinstance(read, Study) else simulation_page(read, timelines)


def _proven(read: Document, whys: Sequence[str]) -> dict[str, str]:
    """Read the answers about pods that wait."""
    from ..instances.documents import the_document
    from ..instances.files import read_file
    from ..reports.html.reading import Rounds
    from ..reports.html.whys import read_whys

    if not isinstance(read, Rounds):
        return {}
    files = [read_file(why, "one document") for why in whys]
    wanted = "an answer of explain --why -o json"
    return read_whys([(name, the_document(name, content, wanted)) for name, content in files], read)


def _timelines(read: Document, log: str | None) -> dict[str, Timeline] | None:
    from ..instances.files import read_file
    from ..reports.html.reading import Simulated
    from ..reports.html.timeline import timelines

    if log is None or not isinstance(read, Simulated):
        return None
    return timelines(read, *read_file(log, "one log"))


def _solved(
    rounds: Rounds, named: Sequence[str], choices: Mapping[str, Any]
) -> dict[str, SolvedRound] | None:
    """Replay the plans on their instance; None where there is none."""
    from ..framework.build import build_cluster
    from ..models.eviction_limits import EvictionLimits
    from ..solver.plans.reopen import reopen
    from ..solver.plans.replay import ReplayFailure

    snapshot = _snapshot(rounds, named, choices)
    if snapshot is None:
        return None
    with progress_told() as progress:
        limits = EvictionLimits.of(next(iter(rounds.plans.values())))
        snapshot = replace(snapshot, limits=limits)
        cluster = None if rounds.upgrade else build_cluster(snapshot, progress.watch)
        try:
            return {
                name: reopen(cluster or _of_release(snapshot, name), plan, progress.watch)
                for name, plan in rounds.plans.items()
            }
        except ReplayFailure as error:
            hint = "a report needs the plan's own instance, with the options that it was read with"
            raise ReplayFailure(f"{snapshot.name}: {error} ({hint})") from None


def _of_release(snapshot: Snapshot, version: str) -> Cluster:
    from ..framework.build import build_cluster
    from ..models.kube_version import KubeVersion

    return build_cluster(replace(snapshot, kube_version=KubeVersion.parse(version)))


def _snapshot(rounds: Rounds, named: Sequence[str], choices: Mapping[str, Any]) -> Snapshot | None:
    if tuple(named) == (_NONE,):
        return None
    words = named or _recorded(rounds.instance, choices)
    if len(words) > 1 and choices["input_format"] != OPENB:
        raise click.UsageError("--instance names one instance; with --format openb it is given twice")
    if not words:
        note(_what_is_missing(rounds.instance))
        return None
    [(snapshot, _)] = snapshots(words, choices)
    return snapshot


def _what_is_missing(name: str) -> str:
    """Return a note on a document whose instance is not here."""
    adds = "adds capacities, constraints and budgets"
    if name == "live" or name.startswith("live:"):
        return (
            f"the cluster {name} has moved on since; a snapshot that is solved in its place and named by "
            f"--instance {adds} (docs/report.md)"
        )
    return f"the instance {name} is not here; --instance FILE {adds}"


def _recorded(name: str, choices: Mapping[str, Any]) -> list[str]:
    """Return what stands for the instance that a document names; nothing where it is not here."""
    from ..instances import catalogue

    words = name.split(" ") if choices["input_format"] == OPENB else [name]
    found = all(word in catalogue.names() or (word != "-" and Path(word).exists()) for word in words)
    return words if found else []
