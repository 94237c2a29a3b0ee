"""The door: a cluster as kubectl's configuration names it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple

from ...models.features import FeatureGates
from ...models.fetched import Fetched
from ...models.snapshot import Snapshot
from ..manifests import snapshot_of
from .client import Client
from .fetch import Fetch
from .proxy import end, kubectl_proxy, start


class Target(NamedTuple):
    """A cluster in kubectl's words: a context and a kubeconfig file, each kubectl's own where it is empty."""

    context: str = ""
    kubeconfig: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """The options that tell kubectl of it."""
        given = (("context", self.context), ("kubeconfig", self.kubeconfig))
        return tuple(f"--{name}={value}" for name, value in given if value)

    def name(self) -> str:
        """Return the name of the context, empty where kubectl has none."""
        if self.context:
            return self.context
        process = start(("kubectl", "config", "current-context", *self.options))
        try:
            out, _ = process.communicate()
        finally:
            end(process)
        return out.decode(errors="replace").strip()


@contextmanager
def connected(target: Target) -> Iterator[Client]:
    """Give a client of a cluster; what it needs of kubectl ends with the block.

    Raises
    ------
    KubestowError
        If kubectl does not start.
    """
    with kubectl_proxy(target.options) as proxy:
        client = Client(proxy.connection)
        try:
            yield client
        finally:
            client.close()


def live_snapshot(
    target: Target,
    tell: Callable[[Fetched], object] | None = None,
    *,
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: FeatureGates | None = None,
) -> Snapshot:
    """Read a snapshot from a live cluster; otherwise as `manifests.load_snapshot`.

    Its name is `live:` and that of kubectl's context.
    """
    name = target.name()
    with connected(target) as client:
        fetch = Fetch(client, tell=tell)
        return snapshot_of(
            fetch.objects(),
            name=f"live:{name}" if name else "live",
            now=now,
            expand=expand,
            feature_gates=feature_gates,
        )
