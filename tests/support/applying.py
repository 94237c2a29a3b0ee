"""Carry a plan out on the API server of `support.api_server`, and compare what has come of it."""

import json
import os
import subprocess
import uuid
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

from kubestow.instances.documents import read_documents
from kubestow.instances.manifests import load_snapshot

METHODS = {"get": "GET", "create": "POST", "delete": "DELETE", "patch": "PATCH"}
LOOKS = 20
"""How often a wait is asked for; nothing in the server takes as many looks."""


def with_uids(documents):
    """Give every object a uid, as an API server does, and whoever holds a claim that of its pod."""
    documents = list(documents)
    for item in documents:
        meta = item.setdefault("metadata", {})
        name = f"{item['kind']} {meta.get('namespace', 'default')}/{meta['name']}"
        meta.setdefault("uid", str(uuid.uuid5(uuid.NAMESPACE_URL, name)))
    uids = {
        (
            item["kind"].lower() + "s",
            item["metadata"].get("namespace", "default"),
            item["metadata"]["name"],
        ): (item["metadata"]["uid"])
        for item in documents
    }
    for item in documents:
        namespace = item["metadata"].get("namespace", "default")
        for user in (item.get("status") or {}).get("reservedFor", ()):
            user["uid"] = uids.get((user["resource"], namespace, user["name"]), user.get("uid", "other"))
        for owner in item["metadata"].get("ownerReferences", ()):
            owner["uid"] = uids.get(
                (owner["kind"].lower() + "s", namespace, owner["name"]), owner.get("uid", "")
            )


def cluster_of(text, folder, **options):
    """Return the objects of a manifest with uids and computed budgets, and the snapshot read from them."""
    documents = list(filter(None, read_documents("cluster.yaml", text.encode())))
    with_uids(item for item in documents if item["kind"] != "KubeSchedulerConfiguration")
    file = folder / "cluster.json"
    file.write_text("\n".join(map(json.dumps, documents)))
    snapshot = load_snapshot(file, **options)
    allowed = {b.key: b.status for b in snapshot.pod_disruption_budgets}
    for item in documents:
        if item["kind"] == "PodDisruptionBudget":
            status = allowed[f"{item['metadata'].get('namespace', 'default')}/{item['metadata']['name']}"]
            item.setdefault("status", {})["disruptionsAllowed"] = status.disruptions_allowed
    return documents, snapshot


class Unexpected(Exception):
    """An answer that the plan does not expect."""


class Client:
    """Makes the requests of documents, one after the other."""

    def __init__(self, address):
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
        self.refused = []

    def ask(self, verb, path, content_type=None, body=None):
        headers = {"Content-Type": content_type} if content_type else {}
        text = None if body is None else json.dumps(body)
        self._connection.request(METHODS[verb], path, text, headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def carry_out(self, documents):
        with closing(self._connection):
            self._carry_out(documents)

    def _carry_out(self, documents):
        last = None
        for item in documents:
            if item.get("onlyAfter", last) != last:
                continue
            if item["wait"] is not None:
                self._wait(item)
                continue
            code, answer = self.ask(item["verb"], item["path"], item.get("contentType"), item["body"])
            if item["action"] == "evict":
                last = code
            if code == item.get("mayAnswer"):
                self.refused.append(item["path"])
            elif code >= 300 or not _has(answer, item.get("expect") or {}):
                raise Unexpected(f"{item['about']}: {code} {answer.get('message')}")

    def _wait(self, item):
        for _ in range(LOOKS):
            code, answer = self.ask("get", item["path"])
            if _is_so(item["wait"], code, answer):
                return
        raise Unexpected(f"{item['about']}: it does not happen")


def _is_so(wait, code, answer):
    if wait["until"] == "gone":
        return code == 404 or answer["metadata"]["uid"] != wait["uid"]
    if wait["until"] == "deallocated":
        return code == 404 or not answer.get("status", {}).get("allocation")
    return "pv.kubernetes.io/bind-completed" in answer["metadata"].get("annotations", {})


def _has(answer, expect):
    return all(
        _has(answer.get(name, {}), value) if isinstance(value, dict) else answer.get(name) == value
        for name, value in expect.items()
    )


def run_script(text, address, folder, kubectl, *, apply):
    """Run a script with the real kubectl."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": address}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": ""}}],
        "current-context": "c",
    }
    (folder / "kubeconfig").write_text(json.dumps(config))
    (folder / "plan.sh").write_text(text)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "KUBECONFIG": str(folder / "kubeconfig"),
        "KUBECTL": kubectl,
        "POLL_SECONDS": "0",
        "WAIT_SECONDS": "120",
        "APPLY": str(int(apply)),
    }
    return subprocess.run(
        ["sh", folder / "plan.sh"], env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def faults(server, plan, before):
    """Yield where the cluster is not as the plan leaves it."""
    placed, out = plan.placed(), {step.leave for step in plan.steps if step.leave}
    for item in before:
        if item["kind"] != "Pod":
            continue
        key = f"{item['metadata'].get('namespace', 'default')}/{item['metadata']['name']}"
        now = server.get("Pod", key)
        if (now is None) != (key in out):
            yield f"{key} is {'gone' if now is None else 'still there'}"
        elif now is not None and now["spec"].get("nodeName") != placed.get(key, item["spec"].get("nodeName")):
            yield f"{key} is on {now['spec'].get('nodeName')}"
    for nomination in plan.nominations:
        if server.get("Pod", nomination.pod)["status"].get("nominatedNodeName") != nomination.node:
            yield f"{nomination.pod} is not nominated to {nomination.node}"
    held = {}
    for claim in server.all("ResourceClaim"):
        results = claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", ())
        held[_owned_name(claim)] = [(r["driver"], r["pool"], r["device"]) for r in results]
    for allocation in plan.allocations:
        devices = [(d["driver"], d["pool"], d["device"]) for d in allocation["devices"]]
        if held.get(allocation["claim"]) != devices:
            yield f"{allocation['claim']} has {held.get(allocation['claim'])}, not {devices}"
    for claim in plan.objects.volume_claims:
        volume = server.get("PersistentVolumeClaim", claim.claim)["spec"].get("volumeName")
        if claim.volume is not None and volume != claim.volume:
            yield f"{claim.claim} has {volume}, not {claim.volume}"
        if claim.node is not None and server.get("PersistentVolume", volume)["spec"]["madeFor"] != claim.node:
            yield f"{claim.claim}: its volume is made for another node than {claim.node}"


def _owned_name(claim):
    """Return what a plan calls a claim: by its pod, where it is made for extended resources."""
    meta = claim["metadata"]
    if "resource.kubernetes.io/extended-resource-claim" in meta.get("annotations", {}):
        return f"{meta['namespace']}/{meta['ownerReferences'][0]['name']}-extended-resources"
    return f"{meta['namespace']}/{meta['name']}"
