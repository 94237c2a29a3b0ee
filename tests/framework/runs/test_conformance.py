"""The greedy baseline against fixed samples of cycles recorded from the real kube-scheduler, by release."""

import pytest
from support.recorded import SAMPLES, cycle, group, number, ours, recorded, traces

TRACES = [
    pytest.param(version, path, id=f"{version}/{number(path)}")
    for version in SAMPLES
    for path in traces(version)
]


@pytest.mark.parametrize("version, path", TRACES)
def test_every_cycle_is_that_of_the_real_scheduler(version, path):
    real, mine = recorded(path), ours(version, path)
    assert list(map(cycle, mine["cycles"])) == list(map(cycle, real["cycles"]))
    assert list(map(group, mine.get("groups", []))) == list(map(group, real.get("groups", [])))
    assert mine.get("gated", []) == real.get("gated", [])


@pytest.mark.parametrize(
    "version, number, families", [("1.34", 72, "abcdefghi"), ("1.36", 50, "abcdefghiklmnp")]
)
def test_the_samples_are_complete(version, number, families):
    found = traces(version)
    assert len(found) == number
    assert {path.parent.name[0] for path in found} == set(families)
