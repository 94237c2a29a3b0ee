"""Recorded traces: what is read, and what of two traces can be compared."""

import gzip
import json
from dataclasses import replace

from kubestow.framework.runs.trace import trace
from kubestow.instances.manifests import load_snapshot
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion
from support.paths import DATA

SAMPLES = {KubeVersion.V1_34: DATA / "conformance", KubeVersion.V1_36: DATA / "conformance-1.36"}
DEVICE = ("request", "driver", "pool", "device", "consumedCapacity")

GATES = {
    "n-podwise": FeatureGates.parse(
        "TopologyAwareWorkloadScheduling=false,WorkloadAwarePreemption=false",
    )
}
"""The gates with which a family was recorded, where others than the defaults."""


def traces(version):
    """The recorded traces of a release, in order."""
    return sorted(SAMPLES[version].glob("*/*.trace.json.gz"))


def number(path):
    """A trace as a test's id: its family and number."""
    return f"{path.parent.name}/{path.name[:3]}"


def recorded(path):
    """A trace as it was recorded."""
    return json.loads(gzip.decompress(path.read_bytes()))


def ours(version, path):
    """The trace that is computed for the instance beside a recorded one, else for the first sample's."""
    name = path.name.replace("trace", "instance")
    places = [path.with_name(name), *(folder / path.parent.name / name for folder in SAMPLES.values())]
    gates = GATES.get(path.parent.name, FeatureGates())
    snapshot = load_snapshot(next(place for place in places if place.exists()))
    return trace(replace(snapshot, kube_version=version, feature_gates=gates))


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
