"""Needs of pending pods that are not built: an instance with one is refused, never solved in part.

Pods that already run with such needs are fine: what they hold does not affect pods without them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...models.errors import KubestowError
from ..dra.index import device_index
from ..vocabulary import names
from ..vocabulary.default_plugins import PRE_BIND, RESERVE, spelled

if TYPE_CHECKING:
    from ..index.cluster import Cluster


def unsupported(cluster: "Cluster") -> list[str]:
    """Return one line for each need, naming the object and the feature; empty where everything is built."""
    return list(_half_devices(cluster))


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
