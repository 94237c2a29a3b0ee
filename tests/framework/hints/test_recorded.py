"""What the real scheduler derived, registered and answered, case by case."""

import json

import pytest
from support.paths import DATA

from kubestow.framework.events.objects import ObjectStore
from kubestow.framework.hints.registry import HINT_PLUGINS, registrations
from kubestow.framework.hints.verdicts import judge
from kubestow.framework.vocabulary.releases import RELEASES
from kubestow.instances.files import read_files
from kubestow.instances.recordings import read_cases
from kubestow.models.config import ARGUMENTS, PluginArgs
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import KubeVersion

DATA = DATA / "queue"
OF_1_34 = RELEASES[KubeVersion.V1_34].plugins
RECORDED = DATA / "hints.jsonl.gz"
[(_, CONTENT)] = read_files([RECORDED])
ANSWERS = {answer["id"]: answer for answer in map(json.loads, CONTENT.splitlines())}
CASES = list(read_cases([RECORDED], tuple(HINT_PLUGINS)))


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=ANSWERS[case.name].get("what", case.name)) for case in CASES]
)
def test_a_change_means_to_a_pod_what_it_meant_to_the_real_scheduler(case):
    answer = ANSWERS[case.name]
    verdict = judge(case)
    assert verdict.document() == {name: answer[name] for name in ("events", "registered", "hint")}
    assert [
        [str(item.event), item.offered, item.registered, item.answer.text] for item in verdict.events
    ] == answer["perEvent"]
    assert any(item.failed for item in verdict.events) == answer.get("error", False)


def test_every_plugin_is_recorded():
    assert {case.plugin for case in CASES} == HINT_PLUGINS.keys() & OF_1_34.keys()


def test_plugins_register_what_they_register_upstream():
    found = {}
    gates = FeatureGates.parse("PodTopologySpreadFallbackMode=false")  # upstream has no such gate
    for name in HINT_PLUGINS.keys() & OF_1_34.keys():
        made = HINT_PLUGINS[name](ObjectStore(), gates, ARGUMENTS.get(name, PluginArgs)())
        found[name] = {
            event: ("hint" if item.function else "always") + (" (automatic)" if item.automatic else "")
            for item in registrations(made)
            for event in item.event.names
        }
    assert found == json.loads((DATA / "registered.json").read_text())
