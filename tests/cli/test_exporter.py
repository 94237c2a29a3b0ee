"""The exporter: what it serves is what a comparison says, and what is deployed is what it needs."""

import json
import os
import re
import signal
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kubernetes_validate import ValidationError, validate
from prometheus_client.parser import text_string_to_metric_families
from support.builders import cluster

import kubestow
from kubestow.cli import main
from kubestow.framework.build import build_cluster
from kubestow.framework.runs.free_nodes import FreeNodes, free_nodes
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.models.errors import KubestowError
from kubestow.reports.metrics import COUNTERS, GAUGES, Metrics
from kubestow.solver.round_measures import RoundMeasures, SchedulerMeasures

DOCS = Path(kubestow.__path__[0]) / "docs"
EXPORTED = {*GAUGES, *COUNTERS}
INSTANCE = "guard-at-the-value"
MEASURES = RoundMeasures(
    pending=5,
    schedulers={"optimal": SchedulerMeasures(4, 3, 0), "greedy": SchedulerMeasures(3, 5, 2)},
    gaps={"scheduled[priority=1]": 1, "fallback": 0},
    proven=False,
    fragmentation={"cpu": 0.25},
    nodes=FreeNodes(1, 2, 3, (), build_cluster(cluster())),
)


def run(*arguments):
    return CliRunner().invoke(main, ["exporter", *arguments])


def samples(text):
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_the_metrics_of_a_round():
    metrics = Metrics()
    metrics.begun()
    metrics.solved(MEASURES, 1.5, 1000.0)
    assert {name for name, *_ in samples(metrics.text())} == EXPORTED
    assert samples(metrics.text()) == {
        ("kubestow_pods_pending",): 5,
        ("kubestow_pods_placed", "optimal"): 4,
        ("kubestow_pods_placed", "greedy"): 3,
        ("kubestow_evictions", "optimal"): 3,
        ("kubestow_evictions", "greedy"): 5,
        ("kubestow_budget_violations", "optimal"): 0,
        ("kubestow_budget_violations", "greedy"): 2,
        ("kubestow_needless_evictions",): 2,
        ("kubestow_needless_budget_violations",): 2,
        ("kubestow_round_proven",): 0,
        ("kubestow_tier_gap", "scheduled[priority=1]"): 1,
        ("kubestow_tier_gap", "fallback"): 0,
        ("kubestow_fragmentation_ratio", "cpu"): 0.25,
        ("kubestow_nodes_free",): 1,
        ("kubestow_nodes_freeable_by_greedy",): 2,
        ("kubestow_nodes_freeable_at_most",): 3,
        ("kubestow_round_duration_seconds",): 1.5,
        ("kubestow_last_success_timestamp_seconds",): 1000,
        ("kubestow_rounds_total",): 1,
        ("kubestow_round_errors_total",): 0,
    }


def test_before_the_first_round_there_are_counters_alone():
    assert {name for name, *_ in samples(Metrics().text())} == set(COUNTERS)


def test_what_a_round_no_longer_has_is_gone_and_an_error_changes_nothing():
    metrics = Metrics()
    metrics.solved(MEASURES, 1.0, 1.0)
    metrics.solved(MEASURES._replace(gaps={"fallback": 0}, fragmentation={}), 1.0, 2.0)
    before = samples(metrics.text())
    assert ("kubestow_tier_gap", "scheduled[priority=1]") not in before
    assert ("kubestow_fragmentation_ratio", "cpu") not in before
    metrics.failed()
    assert samples(metrics.text()) == before | {("kubestow_round_errors_total",): 1}


def test_evictions_that_place_more_pods_are_not_needless():
    metrics = Metrics()
    schedulers = {"optimal": SchedulerMeasures(4, 3, 2), "greedy": SchedulerMeasures(3, 1, 1)}
    metrics.solved(MEASURES._replace(schedulers=schedulers), 1.0, 1.0)
    found = samples(metrics.text())
    assert found["kubestow_needless_evictions",] == found["kubestow_needless_budget_violations",] == 0


def test_one_round_says_what_compare_says():
    result = run(INSTANCE, "--once")
    assert result.exit_code == 0, result.output
    found = samples(result.stdout)
    document = json.loads(CliRunner().invoke(main, ["compare", INSTANCE, "-o", "json"]).stdout)
    for name in ("optimal", "greedy"):
        plan = document[name]
        placed = len(plan["bindings"]) + len(plan["nominations"])
        assert found["kubestow_pods_placed", name] == placed
        assert found["kubestow_evictions", name] == len(plan["evictions"]) > 0
        assert found["kubestow_budget_violations", name] == sum(
            bool(e["violates"]) for e in plan["evictions"]
        )
    assert found["kubestow_round_proven",] == 1
    nodes = free_nodes(load_snapshot(catalogue.locate(INSTANCE)))
    counted = [found[name,] for name in GAUGES if name.startswith("kubestow_nodes_")]
    assert counted == [nodes.free, nodes.emptied, nodes.at_most]
    gaps = {
        tier: value for (name, *tier), value in found.items() if name == "kubestow_tier_gap" for tier in tier
    }
    assert gaps == {tier["name"]: abs(tier["optimal"] - tier["bound"]) for tier in document["tiers"]}


class Enough(Exception):
    """Ends the loop of the exporter."""


def test_it_goes_on_after_an_error_and_serves_the_last_round(monkeypatch):
    """Rounds come at the interval; the second one fails; then the server is asked."""
    served, waited, rounds = [], [], []
    serve = Metrics.serve
    monkeypatch.setattr(
        Metrics, "serve", lambda self, *where: served.append(serve(self, *where)) or served[0]
    )

    def solve(snapshot, options):
        rounds.append(options.time_limit)
        if len(rounds) == 2:
            raise KubestowError("no such thing")
        return MEASURES

    def sleep(seconds):
        waited.append(seconds)
        if len(waited) == 2:
            raise Enough

    monkeypatch.setattr("kubestow.solver.round_measures.measured", solve)
    monkeypatch.setattr("kubestow.commands.exporter.rest", sleep)
    result = run(INSTANCE, "--interval", "1h", "--listen", "127.0.0.1:0", "--time-limit", "7", "-q")
    assert result.exit_code == 70  # the test's own exception
    assert "kubestow: error: no such thing\n" in result.stderr
    assert rounds == [7, 7]
    assert all(0 < seconds <= 3600 for seconds in waited)
    with urllib.request.urlopen(f"http://127.0.0.1:{served[0]}/metrics", timeout=30) as answer:
        found = samples(answer.read().decode())
    assert found["kubestow_rounds_total",] == 2
    assert found["kubestow_round_errors_total",] == 1
    assert found["kubestow_pods_pending",] == 5


def interrupted_round(number):
    os.kill(os.getpid(), number)
    return MEASURES._replace(interrupted=True)


def failed_round(number):
    try:
        os.kill(os.getpid(), number)
        time.sleep(60)
    except KeyboardInterrupt:
        raise KubestowError("the connection is gone") from None


@pytest.mark.parametrize(
    "number, code, words",
    [(signal.SIGTERM, 0, "terminated"), (signal.SIGINT, 130, "interrupted")],
    ids=["SIGTERM", "Ctrl-C"],
)
@pytest.mark.parametrize(
    "solve, sleep",
    [
        pytest.param(
            lambda number: MEASURES, lambda number: os.kill(os.getpid(), number), id="between rounds"
        ),
        pytest.param(interrupted_round, None, id="while a round is solved"),
        pytest.param(failed_round, None, id="where reading fails of it"),
    ],
)
def test_a_server_that_is_told_to_stop_ends_with(number, code, words, solve, sleep, monkeypatch):
    monkeypatch.setattr("kubestow.solver.round_measures.measured", lambda *_: solve(number))
    monkeypatch.setattr("kubestow.commands.exporter.rest", lambda seconds: sleep(number))
    result = run(INSTANCE, "--listen", "127.0.0.1:0", "-q")
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (code, f"kubestow: {words}")


def test_one_round_that_is_stopped_by_sigterm_ends_as_by_ctrl_c(monkeypatch):
    monkeypatch.setattr(
        "kubestow.solver.round_measures.measured", lambda *_: interrupted_round(signal.SIGTERM)
    )
    assert run(INSTANCE, "--once").exit_code == 130


def test_one_round_that_is_stopped_prints_the_numbers_of_the_best_plan(monkeypatch):
    ended = MEASURES._replace(interrupted=True)
    monkeypatch.setattr("kubestow.solver.round_measures.measured", lambda *_: ended)
    result = run(INSTANCE, "--once")
    assert result.exit_code == 130
    assert samples(result.stdout)["kubestow_pods_placed", "optimal"] == 4
    assert result.stderr == "kubestow: interrupted; these are the numbers of the best plan so far\n"


@pytest.mark.parametrize(
    "arguments, words",
    [
        ([], "what is needed is --live or an INSTANCE"),
        ([INSTANCE, "--interval", "often"], "Invalid value for '--interval': 'often' is not a duration"),
        ([INSTANCE, "--interval", "0s"], "Invalid value for '--interval': '0s' is no time to wait"),
        ([INSTANCE, "--interval", "1000000000h"], "Invalid value for '--interval': '1000000000h' is no time"),
        (["-"], "standard input can be read once only: it goes with --once"),
        ([INSTANCE, "--listen", ":²"], "Invalid value for '--listen': ':²' is not an address"),
        ([INSTANCE, "--listen", "nowhere"], "Invalid value for '--listen': 'nowhere' is not an address"),
        ([INSTANCE, "--listen", ":70000"], "Invalid value for '--listen': ':70000' is not an address"),
    ],
)
def test_bad_usage_is_one_line(arguments, words):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"kubestow: error: {words}")
    assert result.stderr.count("\n") == 1


def test_without_its_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    monkeypatch.delitem(sys.modules, "kubestow.reports.metrics", raising=False)
    result = run(INSTANCE, "--once")
    assert (result.exit_code, result.stderr) == (
        2,
        "kubestow: error: exporter needs the extra: pip install 'kubestow[exporter]'\n",
    )


# -- what is deployed --

MANIFEST = {
    item["kind"]: item for item in yaml.safe_load_all((DOCS / "deploy" / "exporter.yaml").read_text())
}


def test_the_dashboard_shows_what_is_exported_and_nothing_else():
    dashboard = json.loads((DOCS / "deploy" / "dashboard.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    assert set(re.findall(r"kubestow_\w+", " ".join(asked))) == EXPORTED


def test_the_panels_of_the_dashboard_are_apart_and_within_the_width():
    dashboard = json.loads((DOCS / "deploy" / "dashboard.json").read_text())
    panels = dashboard["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (panel["gridPos"]["x"] + dx, panel["gridPos"]["y"] + dy)
        for panel in panels
        for dx in range(panel["gridPos"]["w"])
        for dy in range(panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)
    assert all(x < 24 for x, _ in cells)
    for panel in panels:
        refs = [target["refId"] for target in panel["targets"]]
        assert len(set(refs)) == len(refs)
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_the_page_names_what_is_exported_and_nothing_else():
    page = (DOCS / "exporter.md").read_text()
    assert set(re.findall(r"`(kubestow_\w+)`", page)) == EXPORTED


def test_the_role_is_that_of_a_live_cluster():
    [written] = re.findall(r"```yaml\n(apiVersion: rbac.*?)```", (DOCS / "live.md").read_text(), re.DOTALL)
    assert MANIFEST["ClusterRole"]["rules"] == yaml.safe_load(written)["rules"]
    assert all(rule["verbs"] == ["list"] for rule in MANIFEST["ClusterRole"]["rules"])


@pytest.mark.parametrize("kind", MANIFEST)
def test_the_manifest_is_what_kubernetes_schema_says(kind):
    validate(MANIFEST[kind], "1.34", strict=True)
    with pytest.raises(ValidationError):
        validate({**MANIFEST[kind], "specs": {}}, "1.34", strict=True)


def test_the_parts_of_the_manifest_fit_together():
    account, binding = MANIFEST["ServiceAccount"]["metadata"], MANIFEST["ClusterRoleBinding"]
    assert binding["roleRef"]["name"] == MANIFEST["ClusterRole"]["metadata"]["name"]
    assert binding["subjects"] == [{"kind": "ServiceAccount", **account}]
    template = MANIFEST["Deployment"]["spec"]["template"]
    assert template["spec"]["serviceAccountName"] == account["name"]
    labels = template["metadata"]["labels"]
    assert MANIFEST["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert MANIFEST["Service"]["spec"]["selector"] == labels
    [container] = template["spec"]["containers"]
    [port] = MANIFEST["Service"]["spec"]["ports"]
    assert [p["name"] for p in container["ports"]] == [port["targetPort"]]
    assert container["ports"][0]["containerPort"] == port["port"]


def test_the_command_of_the_deployment_is_one(monkeypatch):
    """Its words are read as those of the command line."""
    [container] = MANIFEST["Deployment"]["spec"]["template"]["spec"]["containers"]
    seen = {}
    monkeypatch.setattr(main.commands["exporter"], "callback", lambda **given: seen.update(given))
    result = CliRunner().invoke(main, container["args"])
    assert result.exit_code == 0, result.output
    assert container["command"] == ["kubestow"]
    port = container["ports"][0]["containerPort"]
    assert (seen["live"], seen["listen"], seen["interval"]) == (True, ("0.0.0.0", port), 300)
