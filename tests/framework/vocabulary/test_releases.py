"""What is said of each release holds together, and docs/releases.md says the same."""

from dataclasses import fields

from support.release_tables import PAGE, RULES, current

from kubestow.framework.vocabulary.default_plugins import PLUGINS
from kubestow.framework.vocabulary.releases import PROPOSED_GATES, RELEASES, Release
from kubestow.models.features import KNOWN_GATES, SINCE, FeatureGates
from kubestow.models.kube_version import KubeVersion


def test_the_page_is_current():
    """`make release-tables` brings it up to date."""
    page = PAGE.read_text(encoding="utf-8")
    assert page == current(page), f"{PAGE.name} is stale: make release-tables"


def test_every_rule_has_a_row():
    plain = {"version", "absent", "absent_points", "gates"}
    assert set(RULES) == {item.name for item in fields(Release)} - plain


def test_every_gate_has_a_default_or_is_a_proposal():
    newest = RELEASES[max(KubeVersion, key=list(KubeVersion).index)]
    assert KNOWN_GATES.keys() - PROPOSED_GATES <= newest.gates.keys()
    assert KNOWN_GATES.keys() >= PROPOSED_GATES
    assert not any(PROPOSED_GATES & release.gates.keys() for release in RELEASES.values())


def test_a_release_has_no_gate_that_came_later():
    for version, release in RELEASES.items():
        known = FeatureGates().known_to(version)
        assert all(known.enabled(name) == (name in release.gates) for name in SINCE)


def test_what_a_release_lacks_are_plugins_and_points():
    for release in RELEASES.values():
        assert release.absent <= PLUGINS.keys()
        for name, points in release.absent_points.items():
            assert points <= PLUGINS[name].points
