"""Rounds put side by side in one cluster: each with nodes, namespaces and a pool of its own."""

import yaml

from support.builders import FIELDS, cluster, manifest

POOL = "example.com/pool"
NAMES = ("namespace", "nodeName", "nominatedNodeName", "kubernetes.io/hostname", "pool")
"""Fields and labels whose value names what each round has for itself."""
OWN = ("Node", "Namespace", "ResourceSlice")
"""Kinds without a namespace of which each round has its own; objects of the others are common to all."""
KINDS = {model.model_fields["kind"].default: model for model in FIELDS}


def side_by_side(*snapshots, name="side by side"):
    """Make one round of several: pods that wait in one may only stand on that one's nodes."""
    objects, common = [], {}
    for number, snapshot in enumerate(snapshots):
        tail = f"-{number}"
        for document in yaml.load_all(manifest(snapshot), Loader=yaml.CSafeLoader):
            kind = KINDS[document["kind"]]
            renamed = _renamed(document, tail)
            if kind.namespaced:
                renamed["metadata"].setdefault("namespace", "default" + tail)
            elif document["kind"] in OWN:
                renamed["metadata"]["name"] += tail
            else:
                common[document["kind"], document["metadata"]["name"]] = kind.model_validate(document)
                continue
            if document["kind"] == "Node":
                renamed["metadata"].setdefault("labels", {})[POOL] = tail[1:]
            if document["kind"] == "Pod":
                renamed["spec"].setdefault("nodeSelector", {})[POOL] = tail[1:]
            if document["kind"] == "ResourceSlice":
                renamed["spec"]["pool"]["name"] += tail
            objects.append(kind.model_validate(renamed))
    return cluster(*objects, *common.values(), name=name)


def _renamed(value, tail):
    if isinstance(value, list):
        return [_renamed(item, tail) for item in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, item in value.items():
        if key in NAMES and isinstance(item, str):
            found[key] = item + tail
        elif key == "namespaces" and isinstance(item, list):
            found[key] = [space + tail for space in item]
        elif key == "values" and value.get("key") in ("kubernetes.io/hostname", "metadata.name"):
            found[key] = [name + tail for name in item]
        else:
            found[key] = _renamed(item, tail)
    return found
