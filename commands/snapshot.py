"""The command that writes what plays a part of a live cluster, or of a file: `kubestow snapshot`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from .group import INCOMPLETE, complain, leave
from .inputs import tell
from .live import cluster_options, target_of

if TYPE_CHECKING:
    from collections.abc import Sequence


@click.command(
    "snapshot",
    epilog="""\b
Examples:
  kubestow snapshot -o monday.json.gz
  kubestow snapshot --context prod -o prod.json.gz
  kubestow snapshot | kubestow compare -
  kubestow snapshot -n shop -o shop.json
""",
)
@cluster_options
@click.option(
    "-n",
    "--namespace",
    metavar="NAME",
    default="",
    help="List the objects of this namespace only; pods of others then take no room.  [default: all]",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default="-",
    show_default=True,
    help="Where to write; a name that ends with .gz is packed, `-` is standard output.",
)
def take(namespace: str, output: str, **choices: Any) -> None:
    """Write a live cluster as a file for all other commands, with nothing in it that plays no part.

    The cluster is the one that kubectl reaches, with kubectl's credentials; nothing is asked of it but lists
    of the kinds that are read, page by page (docs/live.md). Exit code 1 says that a kind is missing that the
    cluster has and does not let be listed.
    """
    from ..instances.live.cluster import connected
    from ..instances.live.fetch import Fetch
    from ..reports.progress import FetchReport
    from ..reports.snapshot_file import snapshot_file

    with (
        FetchReport(sys.stderr) as progress,
        connected(target_of(choices)) as client,
        snapshot_file(output) as file,
    ):
        fetch = Fetch(client, namespace, progress)
        for item in fetch.objects():
            file.add(item)
    _tell(fetch.unserved, fetch.notes)
    complain(f"{file.number - 1} objects written")
    if fetch.forbidden:
        leave(INCOMPLETE, f"not in the snapshot: {', '.join(fetch.forbidden)}")


def _tell(unserved: Sequence[str], notes: Sequence[str]) -> None:
    if unserved:
        complain(f"note: the cluster does not serve {', '.join(unserved)}")
    tell("snapshot", notes)
