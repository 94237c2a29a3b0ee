"""The greedy baseline against fixed samples of cycles recorded from the real kube-scheduler, by release."""

import gzip
import json
from dataclasses import replace

import pytest
from support.paths import DATA

from kubestow.framework.runs.trace import trace
from kubestow.instances.manifests import load_snapshot
from kubestow.models.kube_version import KubeVersion

SAMPLES = {KubeVersion.V1_34: DATA / "conformance", KubeVersion.V1_36: DATA / "conformance-1.36"}
DEVICE = ("request", "driver", "pool", "device", "consumedCapacity")
TRACES = [
    (version, path)
    for version, folder in SAMPLES.items()
    for path in sorted(folder.glob("*/*.trace.json.gz"))
]


def comparable(cycle):
    """Drop what no two runs agree on, or what was not recorded.

    That is an error's text and what a device is used for; scores of zero are as good as absent.
    """
    kept = {name: value for name, value in cycle.items() if not (name == "message" and cycle.get("error"))}
    kept["feasible"] = sorted(cycle["feasible"])
    if "scores" in cycle:
        kept["scores"] = {
            node: {plugin: score for plugin, score in scores.items() if score}
            for node, scores in cycle["scores"].items()
        }
    if "allocations" in cycle:
        kept["allocations"] = [
            {
                "claim": claim["claim"],
                "devices": [tuple(map(device.get, DEVICE)) for device in claim["devices"]],
            }
            for claim in cycle["allocations"]
        ]
    return kept


def instance_of(path):
    """Return the instance of a trace: beside it, else in the first sample."""
    places = [
        folder / path.parent.name / path.name.replace("trace", "instance") for folder in SAMPLES.values()
    ]
    return next(place for place in places if place.exists())


@pytest.mark.parametrize(
    "version, path",
    [pytest.param(v, path, id=f"{v}/{path.parent.name}/{path.name[:3]}") for v, path in TRACES],
)
def test_every_cycle_is_that_of_the_real_scheduler(version, path):
    recorded = json.loads(gzip.decompress(path.read_bytes()))
    ours = trace(replace(load_snapshot([instance_of(path)]), kube_version=version))
    assert [cycle["pod"] for cycle in ours["cycles"]] == [cycle["pod"] for cycle in recorded["cycles"]]
    for mine, real in zip(ours["cycles"], recorded["cycles"], strict=True):
        assert comparable(mine) == comparable(real)


@pytest.mark.parametrize("version, number, families", [("1.34", 72, "abcdefghi"), ("1.36", 34, "abcdefghip")])
def test_the_samples_are_complete(version, number, families):
    found = [path for v, path in TRACES if v == version]
    assert len(found) == number
    assert {path.parent.name[0] for path in found} == set(families)
