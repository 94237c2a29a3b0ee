"""An API server on loopback, as far as discovery and lists go: pages, roles, tokens, and what goes wrong.

It speaks HTTP itself; the tests reach it directly, or through the real `kubectl proxy`.
"""

import json
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubestow.instances.documents import read_documents
from kubestow.instances.files import read_files
from kubestow.models.kinds import KINDS

PLURALS = {"CSIStorageCapacity": "csistoragecapacities"}
ELSEWHERE = (("v1", "Secret", True), ("v1", "ConfigMap", True), ("batch/v1", "CronJob", True))
"""Kinds that a cluster serves and kubestow does not read."""

Fault = Callable[["Handler"], bool]
"""What goes wrong with a request: writes an answer of its own and returns True, or returns False."""


def plural(kind: str) -> str:
    return PLURALS.get(kind, kind.lower() + ("es" if kind.endswith("s") else "s"))


def raw_objects(path: Any) -> list[dict[str, Any]]:
    """Return the objects of a file as an API server would have stored them, noise included."""
    documents = [item for file in read_files([path]) for item in read_documents(*file) if item]
    found = []
    for number, item in enumerate(documents):
        model = KINDS.get(item["kind"])
        if model is None or not hasattr(model, "namespaced"):
            continue
        meta = {**item["metadata"], "resourceVersion": str(number)}
        if model.namespaced:
            meta.setdefault("namespace", "default")
        meta["managedFields"] = [{"manager": "noise-of-managers", "fieldsV1": {"f:spec": {}}}]
        noise = {"kubectl.kubernetes.io/last-applied-configuration": '{"noise": "of-appliers"}'}
        meta["annotations"] = {**meta.get("annotations", {}), **noise}
        found.append({**item, "metadata": meta})
    return found


class FakeCluster:
    """A cluster with these objects.

    Attributes
    ----------
    rules : list of dict, optional
        Of a ClusterRole; None lets everybody list everything.
    token : str
        What a request must carry, empty for nothing.
    faults : dict
        By resource, what goes wrong with the next requests for it; one for each request.
    unserved : set of str
        Kinds that are not served.
    prefix : str
        What stands before all paths, as behind a gateway for many clusters.
    requests : list
        Method, path with query, and Authorization header of each request.
    """

    def __init__(
        self,
        objects: Iterable[Mapping[str, Any]] = (),
        rules: list[dict[str, Any]] | None = None,
        token: str = "",
    ) -> None:
        self.rules = rules
        self.token = token
        self.faults: dict[str, list[Fault]] = defaultdict(list)
        self.unserved: set[str] = set()
        self.prefix = ""
        self.requests: list[tuple[str, str, str]] = []
        self.versions: dict[str, str] = {}
        self._objects: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.port = 0
        for item in objects:
            self.add(item)

    def add(self, item: Mapping[str, Any]) -> None:
        self._objects[item["kind"]].append(dict(item))
        self.versions[item["kind"]] = item["apiVersion"]

    def of(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        """Return the objects of a kind as a list has them: in order of keys, without kind and version."""
        chosen = [
            item for item in self._objects[kind] if namespace in ("", item["metadata"].get("namespace"))
        ]
        chosen.sort(key=lambda i: (i["metadata"].get("namespace", ""), i["metadata"]["name"]))
        return [{k: v for k, v in item.items() if k not in ("kind", "apiVersion")} for item in chosen]

    def served(self) -> Iterator[tuple[str, str, bool]]:
        """Yield apiVersion, kind and whether it is in namespaces."""
        yield from ELSEWHERE
        for kind, model in KINDS.items():
            if kind not in self.unserved and hasattr(model, "namespaced") and kind != "SnapshotInfo":
                default = model.model_fields["api_version"].default
                yield self.versions.get(kind, default), kind, model.namespaced

    def allows(self, group: str, resource: str) -> bool:
        return self.rules is None or any(
            group in rule["apiGroups"] and resource in rule["resources"] and "list" in rule["verbs"]
            for rule in self.rules
        )

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=60)

    def lists(self, resource: str) -> list[str]:
        """Return the requests for lists of a resource."""
        return [path for _, path, _ in self.requests if urlsplit(path).path.endswith(f"/{resource}")]


class Handler(BaseHTTPRequestHandler):
    """Answers one connection."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    cluster: FakeCluster

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        cluster = self.cluster
        authorization = self.headers.get("Authorization", "")
        cluster.requests.append((self.command, self.path, authorization))
        if cluster.token and authorization != f"Bearer {cluster.token}":
            self.refuse(401, "Unauthorized", "Unauthorized")
            return
        if not self.path.startswith(cluster.prefix):
            self.refuse(404, "NotFound", "no cluster is here")
            return
        url = urlsplit(self.path.removeprefix(cluster.prefix))
        parts = url.path.strip("/").split("/")
        if url.path == "/version":  # some builds of kubectl ask first
            self.answer({"major": "1", "minor": "32", "gitVersion": "v1.32.4"})
        elif url.path == "/apis":
            self.answer(self._groups())
        elif (parts[0], len(parts)) in (("api", 2), ("apis", 3)):
            self.answer(self._resources("/".join(parts[1:])))
        else:
            self._list(parts, {name: value[0] for name, value in parse_qs(url.query).items()})

    def do_POST(self) -> None:
        self.cluster.requests.append((self.command, self.path, ""))
        self.answer({})

    do_DELETE = do_PUT = do_PATCH = do_POST

    def _groups(self) -> dict[str, Any]:
        versions: dict[str, list[str]] = defaultdict(list)
        for version, _, _ in self.cluster.served():
            group = version.rpartition("/")[0]
            if group and version not in versions[group]:
                versions[group].append(version)
        return {
            "kind": "APIGroupList",
            "groups": [
                {"name": name, "versions": [{"groupVersion": each} for each in found]}
                for name, found in versions.items()
            ],
        }

    def _resources(self, version: str) -> dict[str, Any]:
        found = [
            {"name": plural(kind), "kind": kind, "namespaced": namespaced, "verbs": ["get", "list"]}
            for served, kind, namespaced in self.cluster.served()
            if served == version
        ]
        parts = [{"name": "pods/status", "kind": "Pod", "namespaced": True, "verbs": ["get"]}]
        return {"kind": "APIResourceList", "groupVersion": version, "resources": [*found, *parts]}

    def _list(self, parts: list[str], query: dict[str, str]) -> None:
        cluster = self.cluster
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        version = "/".join(parts[1 : len(parts) - len(rest)])
        namespace = rest[1] if rest[0] == "namespaces" and len(rest) == 3 else ""
        resource = rest[-1]
        faults = cluster.faults[resource]
        if faults and faults.pop(0)(self):
            return
        group = version.rpartition("/")[0]
        if not cluster.allows(group, resource):
            name = f"{resource}.{group}" if group else resource
            words = f'{name} is forbidden: User "u" cannot list resource "{resource}" at the cluster scope'
            self.refuse(403, "Forbidden", words)
            return
        kind = next(k for v, k, _ in cluster.served() if v == version and plural(k) == resource)
        items = cluster.of(kind, namespace)
        start, limit = (
            int(query.get("continue", "0:").split(":")[0]),
            int(query.get("limit", len(items) or 1)),
        )
        meta = {"resourceVersion": "7"}
        if start + limit < len(items):
            meta["continue"] = f"{start + limit}:"
        page = items[start : start + limit]
        self.answer({"kind": f"{kind}List", "apiVersion": version, "metadata": meta, "items": page})

    def answer(self, document: Mapping[str, Any], status: int = 200, **headers: str) -> None:
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status: int, reason: str, words: str, token: str = "", **headers: str) -> None:
        meta = {"continue": token} if token else {}
        document = {"kind": "Status", "status": "Failure", "code": status, "reason": reason, "message": words}
        self.answer({**document, "metadata": meta}, status, **headers)


def fine(handler: Handler) -> bool:
    """Nothing goes wrong with this request."""
    return False


def busy(after: str = "") -> Fault:
    """The server is busy, and says for how long."""

    def fault(handler: Handler) -> bool:
        headers = {"Retry_After": after} if after else {}
        handler.refuse(429, "TooManyRequests", "too many requests", **headers)
        return True

    return fault


def forgotten(token: str = "") -> Fault:
    """The list is forgotten; with a token it goes on at another moment."""

    def fault(handler: Handler) -> bool:
        handler.refuse(410, "Expired", "the provided continue parameter is too old", token)
        return True

    return fault


def moved(handler: Handler) -> bool:
    """The list is forgotten, and goes on from the same place at another moment."""
    query = parse_qs(urlsplit(handler.path).query)
    return forgotten(query["continue"][0])(handler) if "continue" in query else False


def cut(handler: Handler) -> bool:
    """The connection ends in the middle of a page."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"items": [')
    handler.wfile.flush()
    handler.close_connection = True
    handler.connection.shutdown(2)
    return True


def broken(handler: Handler) -> bool:
    """An answer that is no JSON."""
    handler.send_response(200)
    handler.send_header("Content-Length", "5")
    handler.end_headers()
    handler.wfile.write(b"hello")
    return True


@contextmanager
def serving(cluster: FakeCluster, wrap: Callable[[Any], Any] | None = None) -> Iterator[FakeCluster]:
    """Serve a cluster on loopback; `wrap` makes a TLS socket of the listening one."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"cluster": cluster}))
    server.daemon_threads = True
    if wrap is not None:
        server.socket = wrap(server.socket)
    cluster.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield cluster
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def kubeconfig(folder: Path, server: str, context: str = "fake", user: Any = None, **cluster: Any) -> str:
    """Write a configuration of kubectl for a server, and return where it is."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server, **cluster}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
        "current-context": context,
    }
    path = folder / "kubeconfig.json"
    path.write_text(json.dumps(document))
    return str(path)
