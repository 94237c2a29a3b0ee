"""A cluster in which running pods may be moved, by number: each beside the pod that would replace it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...framework.build import build_cluster
from ...framework.rules.movable import Movable, movable
from ...models.progress import Watch, unwatched
from ...models.recreated import with_replacements

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ...framework.index.cluster import Cluster
    from ...models.moves import MoveOptions
    from ...models.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Moving:
    """What may be moved, and what comes in its place.

    Attributes
    ----------
    cluster : Cluster
        With the replacements among its pending pods, after all pods of the input.
    movable : Movable
        Of the running pods, by their number in `cluster`.
    replacement, original : mapping
        Running pod to the pod that replaces it, and back.
    """

    cluster: Cluster
    movable: Movable
    replacement: Mapping[int, int]
    original: Mapping[int, int]

    def replaced_by(self, i: int) -> int:
        """Return the pod that replaces a pod: v' for v, and v' for v' itself, which may move on."""
        return i if i in self.original else self.replacement[i]


def moving(
    snapshot: Snapshot,
    options: MoveOptions,
    among: Callable[[str, str], bool] = lambda pod, node: True,
    watch: Watch = unwatched,
) -> Moving:
    """Number a cluster and the replacements of its movable pods.

    Parameters
    ----------
    among : callable
        Whether a movable pod, given with the name of its node, may have to move.
    """
    return moving_in(build_cluster(snapshot, watch), options, among, watch)


def moving_in(
    before: Cluster,
    options: MoveOptions,
    among: Callable[[str, str], bool] = lambda pod, node: True,
    watch: Watch = unwatched,
) -> Moving:
    """Number the replacements in a cluster that is numbered already; parameters as of `moving`."""
    found = movable(before, options)
    pods, names = before.pods, before.node_names
    keys = [pods[i].key for i in found.pods if among(pods[i].key, names[pods[i].initial_node])]
    with_new = with_replacements(before.snapshot, keys)
    cluster = build_cluster(with_new.snapshot, watch, like=before)
    index = cluster.pod_index
    replacement = {index[old]: index[new] for old, new in with_new.replacement.items()}
    # The pods of the input keep their numbers: the replacements come after them.
    return Moving(cluster, found, replacement, {new: old for old, new in replacement.items()})
