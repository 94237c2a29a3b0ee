"""Which of the kinds that kubestow reads a cluster serves, and where.

Source: the discovery documents of an API server, /apis and /apis/GROUP/VERSION (meta/v1 APIGroupList and
APIResourceList).
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from ...models.config import KubeSchedulerConfiguration
from ...models.errors import KubestowError
from ...models.kinds import KINDS
from ...models.meta import KubeObject
from ...models.snapshot_info import SnapshotInfo
from ..dump import resource
from .client import Client, Refused


class Asked(NamedTuple):
    """A kind that is asked for; the group is empty for core kinds."""

    kind: str
    group: str
    resource: str
    model: type[KubeObject]


def _asked() -> Iterator[Asked]:
    for kind, model in KINDS.items():
        if issubclass(model, KubeObject) and model not in (KubeSchedulerConfiguration, SnapshotInfo):
            version: str = model.model_fields["api_version"].default
            yield Asked(kind, version.rpartition("/")[0], resource(kind).partition(".")[0], model)


ASKED: Final = tuple(_asked())
"""The kinds that are asked for: all that are read and that an API server can have, no Secret among them."""

_NEEDED: Final = "the role system:discovery, which every user has by default, lets a user see what is served"


class Served(NamedTuple):
    """A kind as a cluster serves it, in the version that is asked for."""

    asked: Asked
    api_version: str
    namespaced: bool

    def path(self, namespace: str = "") -> str:
        """Return where the list is: of one namespace, or of all (empty)."""
        root = f"/apis/{self.api_version}" if self.asked.group else f"/api/{self.api_version}"
        within = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{root}{within}/{self.asked.resource}"


def discover(client: Client) -> list[Served]:
    """Return the kinds that a cluster serves and lets one list, in the order of `ASKED`.

    The version is the one that the models are written for, where it is served, else the one that the server
    prefers among those that have the kind.

    Raises
    ------
    KubestowError
        If the cluster does not tell.
    """
    try:
        versions = _versions(client)
        found: dict[str, Served] = {}
        for group in dict.fromkeys(item.group for item in ASKED):
            for version in versions.get(group, ()):
                for served in _resources(client, group, version):
                    known = found.get(served.asked.kind)
                    if known is None or served.api_version == _own_version(served.asked):
                        found[served.asked.kind] = served
    except Refused as error:
        if error.status == 401:
            words = "the cluster does not accept kubectl's credentials"
            raise KubestowError(f"{words}: {error}") from None
        raise KubestowError(f"the cluster does not say what it serves: {error}; {_NEEDED}") from None
    return [found[item.kind] for item in ASKED if item.kind in found]


def _own_version(asked: Asked) -> str:
    version: str = asked.model.model_fields["api_version"].default
    return version


def _versions(client: Client) -> dict[str, list[str]]:
    """Return the versions of each group, as the server prefers them; core has v1."""
    groups: dict[str, list[str]] = {"": ["v1"]}
    for group in _items(client.get("/apis").document, "groups"):
        groups[str(group.get("name"))] = [str(item.get("groupVersion")) for item in _items(group, "versions")]
    return groups


def _resources(client: Client, group: str, version: str) -> Iterator[Served]:
    path = f"/apis/{version}" if group else f"/api/{version}"
    try:
        document = client.get(path).document
    except Refused as error:
        if error.status == 404:  # an extension API server that has gone
            return
        raise
    wanted = {item.resource: item for item in ASKED if item.group == group}
    for item in _items(document, "resources"):
        asked = wanted.get(str(item.get("name")))
        if asked is not None and item.get("kind") == asked.kind and "list" in (item.get("verbs") or ()):
            yield Served(asked, version, bool(item.get("namespaced")))


def _items(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return [item for item in document.get(name) or () if isinstance(item, dict)]
