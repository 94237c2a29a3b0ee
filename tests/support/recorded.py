"""Recorded traces: what is read, and what of two traces can be compared."""

import gzip
import json
from dataclasses import replace

from kubestow.framework.runs.trace import trace
from kubestow.instances.manifests import load_snapshot

DEVICE = ("request", "driver", "pool", "device")


def instances(folder):
    """The instances of a folder of families, in order."""
    return sorted(folder.glob("*/*.instance.json.gz"))


def number(path):
    """An instance as a test's id: its family and number."""
    return f"{path.parent.name}/{path.name[:3]}"


def recorded(path):
    """The trace that was recorded for an instance."""
    return json.loads(gzip.decompress(path.with_name(path.name.replace("instance", "trace")).read_bytes()))


def ours(path, **changes):
    """The trace that is computed for an instance; `changes` are fields of its snapshot."""
    snapshot = load_snapshot([path])
    return trace(replace(snapshot, **changes))


def cycle(found):
    """A pod's cycle without what no two runs agree on, or what was not recorded.

    That is an error's text and what a device is used for; scores of zero are as good as absent.
    """
    kept = {name: value for name, value in found.items() if not (name == "message" and found.get("error"))}
    kept["feasible"] = sorted(found["feasible"])
    if "scores" in found:
        kept["scores"] = {
            node: {plugin: score for plugin, score in scores.items() if score}
            for node, scores in found["scores"].items()
        }
    if "allocations" in found:
        kept["allocations"] = [
            {
                "claim": claim["claim"],
                "devices": [tuple(map(device.get, DEVICE)) for device in claim["devices"]],
            }
            for claim in found["allocations"]
        ]
    return kept


def group(found):
    """A group's cycle without an error's text; the order of a placement's nodes says nothing."""
    kept = {name: value for name, value in found.items() if name != "message" or found["result"] != "error"}
    kept["placements"] = [{**place, "nodes": sorted(place["nodes"])} for place in found["placements"]]
    return kept
