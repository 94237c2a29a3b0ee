"""docs/plugins.md says what the code says."""

import re

from support.paths import ROOT
from support.plugin_table import PAGE, current

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

TEXT = PAGE.read_text(encoding="utf-8")
PLUGINS, _, SWITCHED_OFF = TEXT.partition("\n## Switched off\n")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PLUGINS.splitlines()
    if re.match(r"\| [A-Z]", line)
]


def test_the_table_is_current():
    """`make plugins` brings it up to date."""
    assert current(TEXT) == TEXT, "docs/plugins.md is stale: make plugins"


def test_a_row_follows_the_registry_and_keeps_its_reasons():
    reason = "UAU: `node(s) were unschedulable`"
    stale = TEXT.replace(f"| NodeUnschedulable | – | {reason} |", f"| NodeUnschedulable | 7 | {reason} |")
    assert stale != TEXT
    assert current(stale) == TEXT


def test_the_file_of_a_plugin_names_it():
    for name, _, _, file in ROWS:
        assert name in (ROOT / file.strip("`")).read_text(encoding="utf-8")


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
