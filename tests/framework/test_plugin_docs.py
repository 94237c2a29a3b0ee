"""docs/plugins.md says what the code says."""

import re

from support.paths import ROOT
from support.plugin_table import rows

from kubestow.framework.plugins import (
    dynamic_resources,
    inter_pod_affinity,
    node_affinity,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    pod_topology_spread,
)
from kubestow.framework.vocabulary.default_plugins import PLUGINS as ENTRIES
from kubestow.framework.vocabulary.default_plugins import spelled

TEXT = (ROOT / "docs" / "plugins.md").read_text(encoding="utf-8")
PLUGINS, _, SWITCHED_OFF = TEXT.partition("\n## Switched off\n")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PLUGINS.splitlines()
    if re.match(r"\| [A-Z]", line)
]


def test_the_table_lists_every_plugin_in_order_with_its_weight_and_file():
    written = {row[0]: row[3].strip("`") for row in ROWS}
    assert [tuple(row[:2]) for row in ROWS] == [(name, weight) for name, weight, _ in rows()]
    assert {name: written[name] for name, _, file in rows() if file} == {n: f for n, _, f in rows() if f}


def test_files_exist_and_hold_the_plugin():
    for name, _, _, file in ROWS:
        path = file.strip("`")
        if path != "–":
            assert (ROOT / path).is_file()
            assert name in (ROOT / path).read_text(encoding="utf-8")


def test_every_plugin_has_a_paragraph():
    for name, *_ in ROWS:
        assert f"\n**{name}** " in TEXT or name == "DefaultBinder"


def test_what_is_switched_off_are_points_that_the_plugins_have():
    changes = [line.strip("|").split("|")[:2] for line in SWITCHED_OFF.splitlines() if line.startswith("| ")]
    known = {entry.name: {spelled(point) for point in entry.points} for entry in ENTRIES.values()}
    named = {name for plugins, _ in changes for name in re.findall(r"[A-Z][A-Za-z]+", plugins)}
    assert named == known.keys() - {"NodeUnschedulable", "NodeName", "ImageLocality"}
    for plugins, points in changes:
        for name in re.findall(r"[A-Z][A-Za-z]+", plugins):
            assert set(re.findall(r"`(\w+)`", points)) <= known[name]


def test_reasons_are_those_of_the_code():
    modules = (
        dynamic_resources,
        inter_pod_affinity,
        node_affinity,
        node_name,
        node_ports,
        node_resources_fit,
        node_unschedulable,
        pod_topology_spread,
    )
    for module in modules:
        for name, text in vars(module).items():
            if re.match(r"(REASON|MISMATCH|TOO_MANY)", name):
                assert f"`{text}`" in TEXT
