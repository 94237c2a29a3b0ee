"""The door: a cluster as kubectl's configuration names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

from ...models.features import FeatureGates
from ...models.progress import Watch, unwatched
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


class Cluster(NamedTuple):
    """A cluster that answers, and the name of kubectl's context, empty where it has none."""

    client: Client
    name: str


@contextmanager
def connected(target: Target) -> Iterator[Cluster]:
    """Give access to a cluster; what it needs of kubectl ends with the block.

    Raises
    ------
    KubestowError
        If kubectl does not start.
    """
    name, server = _configured(target)
    # Behind some gateways many API servers share a host, and only the path tells them apart.
    path = urlsplit(server).path.strip("/")
    with kubectl_proxy((*target.options, *(["--append-server-path=true"] if path else []))) as proxy:
        client = Client(proxy.connection)
        try:
            yield Cluster(client, name)
        finally:
            client.close()


def _configured(target: Target) -> tuple[str, str]:
    """Return the context and the server's address, as kubectl is configured; empty where it is not."""
    fields = 'jsonpath={.current-context}{"\\n"}{.clusters[0].cluster.server}'
    process = start(("kubectl", "config", "view", "--minify", "-o", fields, *target.options))
    try:
        out, _ = process.communicate()
    finally:
        end(process)
    name, _, server = out.decode(errors="replace").partition("\n")
    return name.strip(), server.strip()


def live_snapshot(
    target: Target,
    *,
    now: datetime | None = None,
    expand: bool = False,
    feature_gates: FeatureGates | None = None,
    watch: Watch = unwatched,
) -> Snapshot:
    """Read a snapshot from a live cluster; otherwise as `manifests.load_snapshot`.

    Its name is `live:` and that of kubectl's context.
    """
    with connected(target) as cluster:
        return snapshot_of(
            Fetch(cluster.client, watch=watch).objects(),
            name=f"live:{cluster.name}" if cluster.name else "live",
            now=now,
            expand=expand,
            feature_gates=feature_gates,
        )
