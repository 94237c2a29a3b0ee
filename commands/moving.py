"""The options that say which running pods may be moved, and their reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .inputs import parse_pods
from .options import options

if TYPE_CHECKING:
    from ..models.moves import MoveOptions

move_options = options(
    click.option(
        "--delete-emptydir-data",
        is_flag=True,
        help="Move pods with emptyDir volumes; what is in them is lost.",
    ),
    click.option(
        "--ignore-host-path",
        is_flag=True,
        help="Move pods with hostPath volumes; what is in them stays behind.",
    ),
    click.option(
        "--ignore-annotations",
        is_flag=True,
        help="Move pods annotated not to be disrupted (safe-to-evict, do-not-disrupt).",
    ),
    click.option(
        "--never-move",
        metavar="[NAMESPACE:]SELECTOR",
        multiple=True,
        callback=parse_pods,
        help="Pods that stay, by their labels as in -l; NAMESPACE: for all of a namespace. May be repeated.",
    ),
)


def moves_of(choices: dict[str, Any]) -> MoveOptions:
    """Read which pods may move."""
    from ..models.moves import MoveOptions

    names = ("delete_emptydir_data", "ignore_host_path", "ignore_annotations", "never_move")
    return MoveOptions(**{name: choices[name] for name in names})
