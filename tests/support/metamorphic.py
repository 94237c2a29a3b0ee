"""Changes of a round's manifests that must not matter, or only in a way that is known beforehand.

Each takes the documents of a round and a `random.Random` and returns others; `written` and `read` lead from a
snapshot to its documents and back.
"""

from copy import deepcopy
from fractions import Fraction

import yaml

from kubestow.instances.manifests import snapshot_of
from kubestow.models.quantity import parse_quantity
from support.builders import NOW, manifest

SCALED = ("cpu", "memory", "ephemeral-storage")
FACTOR = 1_000_003
"""How many times more there is of everything: a prime, so that nothing but itself divides it out again."""

SEVERAL = "__"
"""What stands between the zones of a volume in its label."""

NOT_WHEN_BOUND = ("resourceClaims", "schedulingGates")

NOBODY = 2_000_000_000
"""A priority above every other one: such a pod is no victim, and makes no tier."""


def written(snapshot):
    """Return the documents of a snapshot."""
    return list(yaml.load_all(manifest(snapshot), Loader=yaml.CSafeLoader))


def read(documents, snapshot):
    """Read documents as a round with the name and the gates of a snapshot."""
    return snapshot_of(deepcopy(documents), name=snapshot.name, now=NOW, feature_gates=snapshot.feature_gates)


def shuffled(documents, rng):
    """The same objects in another order."""
    return rng.sample(documents, len(documents))


# -- other names --


def renamed(documents, rng):
    """Nodes, pods, and what labels are called and worth by the user's choice, under other names.

    Names of Kubernetes itself stay; so does what CEL expressions speak of.
    """
    tokens = sorted(set(_chosen(documents)))
    numbers = rng.sample(range(1000), len(tokens))
    names = {token: f"x{number:03}" for token, number in zip(tokens, numbers, strict=True)}
    for document in documents:
        # the claim of an ephemeral volume has the name of the pod in its own
        for volume in document["spec"].get("volumes", ()) if document["kind"] == "Pod" else ():
            pod, own = document["metadata"]["name"], volume["name"]
            names[f"{pod}-{own}"] = f"{names[pod]}-{own}"
    return _replaced(documents, names)


def _chosen(documents):
    for document in documents:
        labels = document["metadata"].get("labels", {})
        if document["kind"] in ("Node", "Pod"):
            yield document["metadata"]["name"]
        for key, value in labels.items():
            if "/" not in key:
                yield key
            yield from value.split(SEVERAL)


def _replaced(value, names):
    if isinstance(value, list):
        return [_replaced(item, names) for item in value]
    if isinstance(value, dict):
        return {names.get(key, key): _replaced(item, names) for key, item in value.items()}
    if isinstance(value, str):
        return SEVERAL.join(names.get(part, part) for part in value.split(SEVERAL))
    return value


# -- more of everything --


def scaled(documents, rng):
    """So many times more cpu, memory and disk, wanted and offered, and on nodes a rest that is of no use."""
    found = deepcopy(documents)
    for document in found:
        if document["kind"] == "Node":
            for amounts in (document["status"].get(name, {}) for name in ("allocatable", "capacity")):
                _scale(amounts, lambda: rng.randrange(FACTOR))
        if document["kind"] == "Pod":
            spec = document["spec"]
            for holder in (spec, *spec.get("initContainers", ()), *spec.get("containers", ())):
                for amounts in holder.get("resources", {}).values():
                    if isinstance(amounts, dict):
                        _scale(amounts, lambda: 0)
            _scale(spec.get("overhead", {}), lambda: 0)
    return found


def _scale(amounts, more):
    for name in SCALED:
        if name in amounts:
            unit = Fraction(1, 1000) if name == "cpu" else 1
            units = parse_quantity(str(amounts[name])) / unit
            total = (-(-units // 1)) * FACTOR + more()
            amounts[name] = f"{total}m" if name == "cpu" else str(total)


# -- what is of no use --


def padded(documents, rng):
    """With a node that takes no pod, finished pods, other namespaces and unknown kinds."""
    pods = [item for item in documents if item["kind"] == "Pod"]
    useless = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "useless"},
            "spec": {"unschedulable": True, "taints": [{"key": "useless", "effect": "NoExecute"}]},
            "status": {"allocatable": {"cpu": "0", "memory": "0", "pods": "0"}},
        },
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "elsewhere"}},
        {
            "apiVersion": "example.com/v1",
            "kind": "Gadget",
            "metadata": {"name": "g"},
            "spec": {"nodeName": "n1"},
        },
        _stands("elsewhere", {"metadata": {"name": "agent"}}),
    ]
    for k, item in enumerate(rng.sample(pods, min(3, len(pods)))):
        meta = {**item["metadata"], "name": f"finished-{k}"}
        spec = {name: value for name, value in item["spec"].items() if name not in NOT_WHEN_BOUND}
        spec["nodeName"] = item["spec"].get("nodeName", "useless")
        status = {"phase": rng.choice(["Succeeded", "Failed"])}
        useless.append({**item, "metadata": meta, "spec": spec, "status": status})
    return shuffled([*documents, *useless], rng)


def _stands(namespace, pod):
    """A running pod of another namespace, on the node that takes no pod."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**pod["metadata"], "namespace": namespace},
        "spec": {"nodeName": "useless", "priority": NOBODY, "containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": "Running"},
    }
