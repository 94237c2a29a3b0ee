"""Rounds put side by side in one cluster: each with nodes, namespaces and a pool of its own."""

import yaml

from support.builders import FIELDS, cluster, manifest

POOL = "example.com/pool"
KINDS = {model.model_fields["kind"].default: model for model in FIELDS}


def side_by_side(*snapshots, name="side by side"):
    """Make one round of several: pods that wait in one may only stand on that one's nodes."""
    objects = []
    for number, snapshot in enumerate(snapshots):
        tail = f"-{number}"
        for document in yaml.safe_load_all(manifest(snapshot)):
            renamed = _renamed(document, tail)
            if renamed["kind"] == "Node":
                renamed["metadata"].setdefault("labels", {})[POOL] = tail[1:]
            if renamed["kind"] == "Pod":
                renamed["spec"].setdefault("nodeSelector", {})[POOL] = tail[1:]
            objects.append(KINDS[renamed["kind"]].model_validate(renamed))
    return cluster(*objects, name=name)


def _renamed(value, tail):
    if isinstance(value, list):
        return [_renamed(item, tail) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        if key in ("namespace", "nodeName", "kubernetes.io/hostname") and isinstance(item, str):
            found[key] = item + tail
        elif key == "namespaces" and isinstance(item, list):
            found[key] = [space + tail for space in item]
        else:
            found[key] = _renamed(item, tail)
    if value.get("kind") == "Pod":
        found["metadata"].setdefault("namespace", "default" + tail)
    if value.get("kind") in ("Node", "Namespace"):
        found["metadata"]["name"] += tail
    if value.get("kind") == "PodDisruptionBudget":
        found["metadata"].setdefault("namespace", "default" + tail)
    return found
