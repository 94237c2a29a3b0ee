"""What the commands share that read a live cluster: which one, as options and as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import options
from .plugin import is_plugin

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..instances.live.cluster import Target

cluster_options = options(
    click.option("--context", metavar="NAME", help="A context of kubectl's.  [default: the current one]"),
    click.option("--kubeconfig", metavar="FILE", help="kubectl's configuration.  [default: as kubectl]"),
)
live_options = options(
    click.option(
        "--live",
        is_flag=True,
        help="Work on the cluster that kubectl reaches, instead of an INSTANCE (docs/live.md).",
    ),
    cluster_options,
)


def wants_live(arguments: Sequence[str], choices: Mapping[str, Any]) -> bool:
    """Whether a command is to work on the live cluster: as a plugin of kubectl it does unless told otherwise.

    Raises
    ------
    click.UsageError
        If the options contradict each other, or the arguments.
    """
    if "live" not in choices:
        return False
    if choices["live"] or (is_plugin() and not arguments and choices["input_format"] == "manifests"):
        if arguments:
            raise click.UsageError("--live takes no INSTANCE: the cluster is the instance")
        if choices["input_format"] != "manifests":
            raise click.UsageError(f"--live and --format {choices['input_format']} do not go together")
        return True
    refuse_stray(choices)
    return False


def refuse_stray(choices: Mapping[str, Any]) -> None:
    """Refuse options that say which cluster, where it is not read."""
    for name in ("context", "kubeconfig"):
        if choices[name] and not choices["live"]:
            raise click.UsageError(f"--{name} goes with --live only")


def target_of(choices: Mapping[str, Any]) -> Target:
    """Read which cluster is meant."""
    from ..instances.live.cluster import Target

    return Target(choices["context"] or "", choices["kubeconfig"] or "")
