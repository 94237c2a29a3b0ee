"""A small API server on loopback: as much of it as a plan meets when it is carried out, controllers included.

Objects are JSON values as in a manifest. What kubestow plans is checked where it arrives: a pod that is bound
has to have room, volumes and devices by then, and no device belongs to two claims.

Sources: registry/core/pod/storage/eviction.go (429, 500 for several budgets), pkg/controller/resourceclaim,
pkg/controller/volume/persistentvolume.
"""

import json
from collections import Counter
from contextlib import contextmanager
from copy import deepcopy
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread

from kubestow.models.pod import Pod
from kubestow.models.policy import PodDisruptionBudget
from kubestow.models.quantity import parse_quantity
from kubestow.models.requests import pod_requests
from support.patches import JSON_PATCH, TestFailed, json_patch, strategic_merge

PLURALS = {
    "Pod": "pods",
    "Node": "nodes",
    "PodDisruptionBudget": "poddisruptionbudgets",
    "PersistentVolume": "persistentvolumes",
    "PersistentVolumeClaim": "persistentvolumeclaims",
    "ResourceClaim": "resourceclaims",
}
GLOBAL = {"Node", "PersistentVolume"}
LINGERS = 2
"""How many looks a terminating pod or a volume that is being bound takes."""

REASONS = {
    400: "BadRequest",
    404: "NotFound",
    409: "Conflict",
    422: "Invalid",
    429: "TooManyRequests",
    500: "InternalError",
}


class Refused(Exception):
    """An answer other than success."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class ApiServer:
    """The objects of a cluster, changed by requests; `log` has those that changed something."""

    def __init__(self, documents):
        self.objects = {}
        self.versions = {}
        self.log = []
        self._looks = Counter()
        self._lock = Lock()
        for document in documents:
            if document["kind"] in PLURALS:
                self._put(deepcopy(document))

    def get(self, kind, key):
        """Return an object by `namespace/name`, or `name`; None where there is none."""
        return self.objects.get((PLURALS[kind], key))

    def all(self, kind):
        return [item for (plural, _), item in self.objects.items() if plural == PLURALS[kind]]

    def handle(self, method, path, content_type, body):
        """Answer a request: status code and document."""
        with self._lock:
            try:
                found = self._discovery(path)
                if found is not None:
                    return 200, found
                plural, key, subresource = self._parse(path)
                answer = self._answer(method, plural, key, subresource, content_type, body)
                if method != "GET":
                    self.log.append((method, plural, key, subresource))
                return answer
            except (Refused, TestFailed) as refused:
                code = getattr(refused, "code", 422)
                status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
                return code, {**status, "message": str(refused), "reason": REASONS[code], "code": code}

    def _answer(self, method, plural, key, subresource, content_type, body):
        done = {"kind": "Status", "apiVersion": "v1", "status": "Success", "code": 201}
        if (method, subresource) == ("POST", "eviction"):
            self._evict(key, body)
            return 201, done
        if (method, subresource) == ("POST", "binding"):
            self._bind(key, body)
            return 201, done
        if method == "POST":
            return 201, self._create(plural, body)
        item = self._find(plural, key)
        if method == "DELETE":
            self._terminate(item, (body or {}).get("preconditions", {}).get("uid"))
            return 200, item
        if method == "PATCH":
            return 200, self._patch(plural, key, item, subresource, content_type, body)
        self._look(plural, key, item)
        return 200, self._find(plural, key)

    # -- paths and discovery --

    def _parse(self, path):
        parts = path.partition("?")[0].strip("/").split("/")
        rest = parts[2:] if parts[0] == "api" else parts[3:]
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = f"{rest[1]}/", rest[2:]
        if rest[0] not in PLURALS.values():
            raise Refused(404, f"the server has no {rest[0]}")
        name = rest[1] if len(rest) > 1 else ""
        return rest[0], f"{namespace}{name}", rest[2] if len(rest) > 2 else ""

    def _discovery(self, path):
        path = path.partition("?")[0].rstrip("/")
        groups = sorted({version for version in self.versions.values() if "/" in version})
        if path == "/version":
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.1"}
        if path == "/api":
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        if path == "/apis":
            listed = []
            for version in groups:
                entry = {"groupVersion": version, "version": version.partition("/")[2]}
                listed.append(
                    {"name": version.partition("/")[0], "versions": [entry], "preferredVersion": entry}
                )
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": listed}
        version = path.removeprefix("/apis/").removeprefix("/api/")
        if version not in ("v1", *groups):
            return None
        resources = []
        for kind, plural in PLURALS.items():
            if self.versions.get(kind, "v1") == version:
                entry = {"kind": kind, "namespaced": kind not in GLOBAL, "singularName": kind.lower()}
                verbs = ["get", "list", "patch", "delete", "create"]
                resources.append({**entry, "name": plural, "verbs": verbs})
                resources.append({**entry, "name": f"{plural}/status", "verbs": ["get", "patch"]})
        return {"kind": "APIResourceList", "groupVersion": version, "resources": resources}

    # -- changes --

    def _put(self, item):
        meta = item["metadata"]
        self.versions[item["kind"]] = item["apiVersion"]
        if item["kind"] not in GLOBAL:
            meta.setdefault("namespace", "default")
        prefix = "" if item["kind"] in GLOBAL else f"{meta['namespace']}/"
        self.objects[PLURALS[item["kind"]], prefix + meta["name"]] = item

    def _find(self, plural, key):
        found = self.objects.get((plural, key))
        if found is None:
            raise Refused(404, f'{plural} "{key}" not found')
        return found

    def _create(self, plural, body):
        meta = body["metadata"]
        if (plural, f"{meta['namespace']}/{meta['name']}") in self.objects:
            raise Refused(409, f"{plural} {meta['name']} already exists")
        item = deepcopy(body)
        item["metadata"]["uid"] = f"made-{len(self.objects)}"
        self._put(item)
        return item

    def _patch(self, plural, key, item, subresource, content_type, body):
        changed = json_patch(item, body) if content_type == JSON_PATCH else strategic_merge(item, body)
        if changed["metadata"].get("uid") != item["metadata"].get("uid"):
            raise Refused(409, "Precondition failed: UID")
        kept = set(item) | set(changed)
        touched = {name for name in kept if item.get(name) != changed.get(name)}
        if not touched <= ({"status"} if subresource == "status" else {"metadata", "spec"}):
            raise Refused(422, f"{sorted(touched)} cannot be changed here")
        if plural == "resourceclaims":
            self._check_devices(key, item, changed)
        self.objects[plural, key] = changed
        return changed

    def _check_devices(self, key, item, changed):
        old, new = (part.get("status", {}).get("allocation") for part in (item, changed))
        if old and new and old != new:
            raise Refused(422, "status.allocation: field is immutable")
        if (
            new
            and not old
            and "resource.kubernetes.io/delete-protection" not in changed["metadata"].get("finalizers", ())
        ):
            raise Refused(422, "an allocated claim is not protected")
        taken = _devices(new)
        for other in self.all("ResourceClaim"):
            meta = other["metadata"]
            if f"{meta['namespace']}/{meta['name']}" != key:
                twice = taken & _devices(other.get("status", {}).get("allocation"))
                if twice:
                    raise Refused(500, f"{key} gets {twice}, which {meta['name']} has")

    def _terminate(self, item, uid):
        if uid is not None and uid != item["metadata"]["uid"]:
            raise Refused(409, "Precondition failed: UID in precondition")
        item["metadata"].setdefault("deletionTimestamp", "2026-03-01T12:00:00Z")

    def _evict(self, key, body):
        item = self._find("pods", key)
        uid = body.get("deleteOptions", {}).get("preconditions", {}).get("uid")
        if uid is not None and uid != item["metadata"]["uid"]:
            raise Refused(409, "Precondition failed: UID in precondition")
        pod = Pod.model_validate(item)
        mine = [b for b in self.all("PodDisruptionBudget") if _covers(b, pod)]
        if len(mine) > 1:
            raise Refused(500, "This pod has more than one PodDisruptionBudget")
        for budget in mine:
            status = budget["status"]
            if pod.name in status.get("disruptedPods", {}):
                continue
            if status["disruptionsAllowed"] <= 0:
                raise Refused(429, "Cannot evict pod as it would violate the pod's disruption budget.")
            status["disruptionsAllowed"] -= 1
        self._terminate(item, uid)

    def _bind(self, key, body):
        item, node = self._find("pods", key), self._find("nodes", body["target"]["name"])
        if body["metadata"].get("uid") != item["metadata"]["uid"]:
            raise Refused(409, "Precondition failed: UID")
        if item["spec"].get("nodeName") or item["metadata"].get("deletionTimestamp"):
            raise Refused(409, f"pod {key} is already assigned to a node, or being deleted")
        item = deepcopy(item)
        item["spec"]["nodeName"] = node["metadata"]["name"]
        self._check_room(node, item)
        self._check_claims(item)
        self.objects["pods", key] = item

    def _check_room(self, node, newcomer):
        name = node["metadata"]["name"]
        here = [pod for pod in self.all("Pod") if pod["spec"].get("nodeName") == name]
        running = [p for p in here if p.get("status", {}).get("phase") not in ("Succeeded", "Failed")]
        total = Counter({"pods": len(running) + 1})
        for pod in (*running, newcomer):
            total.update(pod_requests(Pod.model_validate(pod)))
        asked = {"pods": 1, **pod_requests(Pod.model_validate(newcomer))}
        for resource, amount in node["status"].get("allocatable", {}).items():
            if not asked.get(resource):
                continue
            have = parse_quantity(amount) * (1000 if resource == "cpu" else 1)
            if total[resource] > have:
                raise Refused(500, f"node {name} has {have} {resource}, not {total[resource]}")

    def _check_claims(self, item):
        namespace, uid = item["metadata"]["namespace"], item["metadata"]["uid"]
        for volume in item["spec"].get("volumes", ()):
            name = volume.get("persistentVolumeClaim", {}).get("claimName")
            if name and not _is_bound(self._find("persistentvolumeclaims", f"{namespace}/{name}")):
                raise Refused(500, f"volume claim {name} is not bound")
        status = item.get("status", {})
        names = [
            e["resourceClaimName"] for e in item["spec"].get("resourceClaims", ()) if "resourceClaimName" in e
        ]
        names += [e["resourceClaimName"] for e in status.get("resourceClaimStatuses", ())]
        names += [e["resourceClaimName"] for e in (status.get("extendedResourceClaimStatus"),) if e]
        for name in names:
            claim = self._find("resourceclaims", f"{namespace}/{name}")["status"]
            users = {user["uid"] for user in claim.get("reservedFor", ()) if user["resource"] == "pods"}
            grouped = any(user["resource"] == "podgroups" for user in claim.get("reservedFor", ()))
            if not claim.get("allocation") or not (uid in users or grouped):
                raise Refused(500, f"resource claim {name} has no devices for the pod")

    # -- controllers: things happen while somebody looks --

    def _look(self, plural, key, item):
        if plural == "pods" and item["metadata"].get("deletionTimestamp") and self._ripe(plural, key):
            del self.objects[plural, key]
            self._free_claims(item["metadata"]["uid"])
        if plural == "persistentvolumeclaims" and not _is_bound(item):
            self._bind_volume(key, item)

    def _ripe(self, plural, key):
        self._looks[plural, key] += 1
        return self._looks[plural, key] >= LINGERS

    def _free_claims(self, uid):
        for claim in self.all("ResourceClaim"):
            users = claim.get("status", {}).get("reservedFor", [])
            if any(user["uid"] == uid for user in users):
                users[:] = [user for user in users if user["uid"] != uid]
                if not users:
                    del claim["status"]["reservedFor"]
                    claim["status"].pop("allocation", None)

    def _bind_volume(self, key, item):
        meta = item["metadata"]
        volume = next(
            (
                v["metadata"]["name"]
                for v in self.all("PersistentVolume")
                if v["spec"].get("claimRef", {}).get("uid") == meta["uid"]
            ),
            None,
        )
        node = meta.get("annotations", {}).get("volume.kubernetes.io/selected-node")
        if (volume is None and node is None) or not self._ripe("persistentvolumeclaims", key):
            return
        if volume is None:
            volume = f"pvc-{meta['uid']}"
            reference = {"namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}
            spec = {"claimRef": reference, "madeFor": node}
            self._put(
                {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": spec}
            )
        item["spec"]["volumeName"] = volume
        meta.setdefault("annotations", {})["pv.kubernetes.io/bind-completed"] = "yes"
        item["status"] = {"phase": "Bound"}


def _covers(budget, pod):
    model = PodDisruptionBudget.model_validate(budget)
    return model.namespace == pod.namespace and model.spec.selector.compiled.matches(pod.metadata.labels)


def _is_bound(claim):
    return "pv.kubernetes.io/bind-completed" in claim["metadata"].get("annotations", {})


def _devices(allocation):
    results = (allocation or {}).get("devices", {}).get("results", ())
    return {
        (r["driver"], r["pool"], r["device"])
        for r in results
        if not (r.get("shareID") or r.get("adminAccess"))
    }


@contextmanager
def serving(server):
    """Serve on loopback; gives the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def answer(self):
            text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.headers.get("Transfer-Encoding") == "chunked":
                while size := int(self.rfile.readline(), 16):
                    text += self.rfile.read(size)
                    self.rfile.readline()
                self.rfile.readline()
            body = json.loads(text) if text else None
            kind = (self.headers.get("Content-Type") or "").partition(";")[0]
            code, document = server.handle(self.command, self.path, kind, body)
            text = json.dumps(document).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = answer

        def log_message(self, *words):
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
