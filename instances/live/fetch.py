"""All objects of a cluster that play a part, one after the other, without the fields that play none."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from ...models.errors import KubestowError
from ...models.progress import Watch, unwatched
from ...models.snapshot_info import SnapshotInfo
from ..lean import lean
from .client import Client, Refused
from .discovery import ASKED, Served, discover
from .pages import pages

_ESSENTIAL: Final = frozenset(("Node", "Pod"))
_FORBIDDEN: Final = 403
_NOT_FOUND: Final = 404
ROLE: Final = "docs/live.md has the ClusterRole"


class Fetch:
    """One walk through a cluster.

    Parameters
    ----------
    client : Client
    namespace : str, optional
        The only namespace whose objects are listed; all by default. What has no namespace is listed whole.
    watch : Watch
        Hears of every page.

    Attributes
    ----------
    notes : list of str
        What may make the answer another one than that of the cluster.
    unserved : list of str
        The kinds that the cluster does not serve.
    forbidden : list of str
        The resources that the cluster serves and does not let be listed.
    """

    def __init__(self, client: Client, namespace: str = "", watch: Watch = unwatched) -> None:
        self.notes: list[str] = []
        self.unserved: list[str] = []
        self.forbidden: list[str] = []
        self._client = client
        self._namespace = namespace
        self._watch = watch
        self._time: datetime | None = None

    def objects(self) -> Iterator[dict[str, Any]]:
        """Yield the objects, raw, kind by kind, and at the end a SnapshotInfo.

        Raises
        ------
        KubestowError
            If the cluster does not answer, or does not let nodes or pods be listed.
        """
        self._watch("asking the cluster what it serves")
        served = discover(self._client)
        there = {item.asked.kind for item in served}
        if not there.issuperset(_ESSENTIAL):
            raise KubestowError("what answers is no cluster: it serves no lists of nodes or no lists of pods")
        self.unserved.extend(item.kind for item in ASKED if item.kind not in there)
        if self._namespace:
            self.notes.append(
                "only objects of one namespace were asked for: pods of other namespaces take no room here, "
                "and their budgets, claims and affinities play no part"
            )
        for item in served:
            yield from self._list(item)
        yield SnapshotInfo.raw(self._time or datetime.now(UTC), self.notes)

    def _list(self, served: Served) -> Iterator[dict[str, Any]]:
        asked = served.asked
        head = {"apiVersion": served.api_version, "kind": asked.kind}
        number = objects = 0
        torn = False
        try:
            for page in pages(self._client, served.path(self._namespace)):
                self._time = page.answer.time or self._time
                torn |= page.torn
                number += 1
                objects += len(page.items)
                self._watch(f"listing {asked.resource}, page {number}: objects", objects)
                for item in page.items:
                    yield {**head, **lean(asked.model, item)}
        except Refused as error:
            self._refused(served, error)
        if torn:
            self.notes.append(
                f"the list of {asked.resource} took longer than the cluster remembers: its parts are of "
                "different moments"
            )

    def _refused(self, served: Served, error: Refused) -> None:
        asked = served.asked
        name = f"{asked.resource}.{asked.group}" if asked.group else asked.resource
        if error.status == _NOT_FOUND and asked.kind not in _ESSENTIAL:
            self.unserved.append(asked.kind)
            return
        if error.status != _FORBIDDEN:
            raise KubestowError(f"the cluster does not list {name}: {error}")
        words = f"the user of kubectl may not list {name}"
        if asked.kind in _ESSENTIAL:
            raise KubestowError(f"{words}: verb list is needed on {name} ({ROLE})")
        self.forbidden.append(name)
        self.notes.append(
            f"{words}, so the snapshot has none, as if there were none in the cluster: verb list is needed "
            f"({ROLE})"
        )
