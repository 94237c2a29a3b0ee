"""The greedy baseline against a fixed sample of cycles recorded from the real kube-scheduler 1.34.1."""

import gzip
import json
from dataclasses import replace

import pytest
from support.paths import DATA

from kubestow.framework.runs.trace import trace
from kubestow.instances.manifests import load_snapshot
from kubestow.models.kube_version import KubeVersion

SAMPLE = DATA / "conformance"
DEVICE = ("request", "driver", "pool", "device")
INSTANCES = sorted(SAMPLE.glob("*/*.instance.json.gz"))


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


@pytest.mark.parametrize("path", INSTANCES, ids=lambda path: f"{path.parent.name}/{path.name[:3]}")
def test_every_cycle_is_that_of_the_real_scheduler(path):
    recorded = json.loads(
        gzip.decompress(path.with_name(path.name.replace("instance", "trace")).read_bytes())
    )
    ours = trace(replace(load_snapshot([path]), kube_version=KubeVersion.V1_34))
    assert [cycle["pod"] for cycle in ours["cycles"]] == [cycle["pod"] for cycle in recorded["cycles"]]
    for mine, real in zip(ours["cycles"], recorded["cycles"], strict=True):
        assert comparable(mine) == comparable(real)


def test_the_sample_is_complete():
    assert len(INSTANCES) == 72
    assert {path.parent.name[0] for path in INSTANCES} == set("abcdefghi")
