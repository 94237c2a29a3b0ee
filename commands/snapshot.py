"""The command that writes what plays a part of a live cluster, or of a file: `kubestow snapshot`."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import click

from .group import INCOMPLETE, leave
from .help import Command
from .inputs import complete_instance, tell
from .live import cluster_options, target_of
from .printing import parse_namespace
from .voice import news, note, progress_told, voice_options

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ..instances.live.fetch import Fetch
    from ..models.progress import Watch


@click.command(
    "snapshot",
    cls=Command,
    epilog="""\b
Examples:
  kubestow snapshot zone-spread-dead-end --anonymise
  kubestow snapshot -o monday.json.gz
  kubestow snapshot --context prod -o prod.json.gz
  kubestow snapshot -n shop -o shop.json
  kubestow snapshot --anonymise -o to-share.json.gz
  kubestow snapshot cluster.yaml --anonymise -o to-share.json
  kubestow snapshot | kubestow compare -
""",
)
@click.argument("file", required=False, metavar="[FILE]", shell_complete=complete_instance)
@cluster_options
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    callback=parse_namespace,
    help="List the objects of this namespace only; pods of others then take no room.  [default: all]",
)
@click.option(
    "--anonymise",
    is_flag=True,
    help="Give everything another name, so that the file can be shared; the round stays the same.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    show_default=True,
    help="Where to write; a name that ends with .gz is packed, `-` is standard output.",
)
@voice_options
def take(file: str | None, namespace: str | None, anonymise: bool, output: str, **choices: Any) -> None:
    """Write what plays a part of a live cluster to a file.

    All other commands read it. The cluster is the one that kubectl reaches, with kubectl's credentials;
    nothing is asked of it but lists of the kinds that are read, page by page (docs/live.md). Exit code 1 says
    that a kind is missing that the cluster has and does not let be listed. With a FILE (or folder, `-`,
    bundled instance), the snapshot is made of that.
    """
    from ..instances import catalogue
    from ..instances.anonymous.snapshot import Anonymiser, anonymous
    from ..instances.raw_objects import raw_objects
    from ..reports.snapshot_file import snapshot_file

    fetch: Fetch | None = None
    with ExitStack() as stack:
        objects: Iterable[dict[str, Any]]
        progress = stack.enter_context(progress_told())
        if file is None:
            fetch = stack.enter_context(_fetching(namespace or "", choices, progress.watch))
            objects = fetch.objects()
        else:
            _check_no_cluster(namespace, choices)
            objects = raw_objects(catalogue.locate(file), progress.watch)
        if anonymise:
            anonymiser = Anonymiser()
            objects = anonymous(objects, anonymiser, progress.watch)
        written = stack.enter_context(snapshot_file(output))
        for item in objects:
            written.add(item)
    news(f"{written.number} objects written")
    tell("snapshot", anonymiser.notes if anonymise else ())
    if fetch is not None:
        _tell(fetch.unserved, fetch.notes, fetch.forbidden)


@contextmanager
def _fetching(namespace: str, choices: Mapping[str, Any], watch: Watch) -> Iterator[Fetch]:
    from ..instances.live.cluster import connected
    from ..instances.live.fetch import Fetch

    with connected(target_of(choices)) as cluster:
        yield Fetch(cluster.client, namespace, watch)


def _check_no_cluster(namespace: str | None, choices: Mapping[str, Any]) -> None:
    given = {"namespace": namespace, **choices}
    for name, value in given.items():
        if value:
            raise click.UsageError(f"--{name} goes with a live cluster only, not with a FILE")


def _tell(unserved: Sequence[str], notes: Sequence[str], forbidden: Sequence[str]) -> None:
    if unserved:
        note(f"the cluster does not serve {', '.join(unserved)}")
    tell("snapshot", notes)
    if forbidden:
        leave(INCOMPLETE, f"not in the snapshot: {', '.join(forbidden)}")
