"""Needs of pending pods that are not built: an instance with one is refused, never solved in part.

Pods that already run with such needs are fine: what they hold does not affect pods without them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...models.errors import KubestowError
from ..dra.index import device_index
from ..vocabulary import names
from ..vocabulary.default_plugins import PRE_BIND, RESERVE, spelled
from .groups import groups

if TYPE_CHECKING:
    from ..index.cluster import Cluster


def unsupported(cluster: "Cluster") -> list[str]:
    """Return one line for each need, naming the object and the feature; empty where everything is built."""
    groups_need = [f"PodGroup {group}: {need} not supported yet" for group, need in _groups(cluster)]
    return [*_half_devices(cluster), *groups_need]


def require_supported(cluster: "Cluster") -> None:
    """Refuse an instance that needs what is not built.

    Raises
    ------
    KubestowError
        Naming the first object and feature, and how many more there are.
    """
    needs = unsupported(cluster)
    if needs:
        more = f" (and {len(needs) - 1} more)" if len(needs) > 1 else ""
        raise KubestowError(f"{cluster.snapshot.name}: {needs[0]}{more}")


def _half_devices(cluster: "Cluster") -> Iterator[str]:
    """Find profiles that choose devices and never write them down.

    Claims would stay in allocation for ever, or be allocated by every pod anew.
    """
    index = device_index(cluster)
    if index is None:
        return
    for profile in cluster.profiles.values():
        off = [point for point in (RESERVE, PRE_BIND) if not profile.calls(names.DYNAMIC_RESOURCES, point)]
        if not off or not profile.looks_at_devices:
            continue
        for i in cluster.pending:
            if cluster.pods[i].scheduler == profile.scheduler_name and index.asks(i):
                where = f"profile {profile.scheduler_name}: plugins.{spelled(off[0])}"
                yield (
                    f"KubeSchedulerConfiguration: {where}: {names.DYNAMIC_RESOURCES} is off here but not "
                    f"at filter, and Pod {cluster.pods[i].key} needs devices: enable it at reserve and "
                    "preBind, or disable it at filter, too"
                )
                break


def _groups(cluster: "Cluster") -> Iterator[tuple[str, str]]:
    """Find what groups ask for and cannot have, as far as this round could touch it.

    A group of groups matters where members are to be placed; groups that are evicted all together where a
    pending pod could evict a member of one.
    """
    composites = {item.key: item.spec for item in cluster.snapshot.composite_pod_groups}
    strongest = max(
        (cluster.pods[i].priority for i in cluster.pending if cluster.pods[i].preempts), default=None
    )
    for group in groups(cluster):
        if group.parent and group.pending:
            yield group.key, f"spec.parentCompositePodGroupName (CompositePodGroup {group.parent}) is"
        if strongest is None or all(cluster.pods[i].priority >= strongest for i in group.running):
            continue
        name, seen = group.parent, set[str]()
        while name and name not in seen:
            seen.add(name)
            parent = composites.get(f"{group.namespace}/{name}")
            if parent is not None and parent.disruption_mode == "all":
                yield group.key, f"disruptionMode all of CompositePodGroup {name} is"
                break
            name = (parent.parent_composite_pod_group_name or "") if parent is not None else ""
