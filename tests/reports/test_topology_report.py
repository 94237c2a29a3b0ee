"""The picture of the racks, word for word."""

import io
import json

import pytest
from click.testing import CliRunner
from rich.console import Console
from support.builders import cluster, group, manifest, node, pod
from support.devices import claim, device_class, gpu, slice_, slice_on, user
from support.grouped import rack

from kubestow.cli import main
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.models.plan import Plan
from kubestow.models.topology import Topology
from kubestow.reports.layout import show
from kubestow.reports.topology import topology_report
from kubestow.solver.api import SolveOptions, solve_greedy_round, solve_round
from kubestow.solver.plans.topology import topology

MEMBER = pod("m").req(cpu="2").priority(10).member("g")


def drawn(*objects):
    """Draw what greedy makes of a round, without the headline."""
    snapshot = cluster(*objects)
    solved = solve_greedy_round(snapshot)
    file = io.StringIO()
    show(topology_report(solved.plan, topology(solved)), file)
    return file.getvalue().split("\n", 3)[3]


GANG = [
    [node(n, cpu=cpu).label(rack="r1", block="b1") for n, cpu in (("a", "4"), ("b", "6"))],
    node("c", cpu="3").label(rack="r2", block="b1"),
    node("x", cpu="1"),
    device_class(),
    slice_on("a", gpu("g0"), gpu("g1")),
    slice_("net", gpu("n0"), allNodes=True),
    claim("held", has=[("r", "a", "g0")], at="a", users=["old"]),
    group("g", "rack", gang=3),
    group("h", "block", gang=9),
    user("old", "held").req(cpu="1").priority(10).member("g").on("a"),
    claim("x"),
    user("m-0", "x").req(cpu="2").priority(10).member("g"),
    pod("m-1").req(cpu="2").priority(10).member("g"),
    pod("n").priority(10).member("h"),
    pod("other").req(cpu="1"),
    pod("victim").req(cpu="3").priority(0).on("c"),
    pod("large").req(cpu="3").priority(20).select(rack="r2"),
]

PICTURE = """\
rack
  ╭─ r1 (b1) ────────────╮ ╭─ r2 (b1) ──────╮ ╭─ without the label ─╮
  │ a  2/4 cpu  a●  [a·] │ │ c  3/3 cpu  ●× │ │ x  0/1 cpu          │
  │ b  4/6 cpu  AA       │ ╰────────────────╯ ╰─────────────────────╯
  ╰──────────────────────╯
  devices of several domains [A]

Pod groups
      group       placed   standing   minCount   domains
  ──────────────────────────────────────────────────────
  A   default/g   2 of 2          3          3   r1
  B   default/h   0 of 1          0          9

  A member placed now, a member that ran before, ● other pod placed now, × evicted pod, · free device

Left out
  pods        blocked by       kube-scheduler's message
  ────────────────────────────────────────────────────────────────────────────────────────────────
  default/n   GangScheduling   waiting for minCount pods from a gang to appear in scheduling queue
"""


def test_a_picture_of_everything():
    assert drawn(GANG) == PICTURE


def test_without_groups_and_devices_there_are_zones_and_pods():
    objects = [node("a-1", zone="a"), node("b-1", zone="b"), node("b-2", zone="b"), pod("p").req(cpu="1")]
    assert (
        drawn(objects, pod("q").req(cpu="3").on("b-1"))
        == """\
topology.kubernetes.io/zone
  ╭─ a ─────────────╮ ╭─ b ─────────────╮
  │ a-1  1/4 cpu  ● │ │ b-1  3/4 cpu  ○ │
  ╰─────────────────╯ │ b-2  0/4 cpu    │
                      ╰─────────────────╯

  ● pod placed now, ○ pod that ran before
"""
    )


def test_without_any_label_all_nodes_are_one_box():
    assert (
        drawn(node("a"), node("b"))
        == """\
All nodes
  ╭─ all ────────╮
  │ a  0/4 cpu   │
  │ b  0/4 cpu   │
  ╰──────────────╯
"""
    )


def test_an_empty_cluster_has_no_box():
    assert drawn(pod("p")).startswith("All nodes\n\nLeft out\n")


NARROW = """\
topology.kubernetes.io/zone
  ╭─ eu-central-1a ─────────────────────────────╮
  │ ip-10-0-112-7.eu-central-1.compute.internal │
  │   1/4 cpu                                   │
  │   ●                                         │
  │   [··]                                      │
  │ ip-10-0-113-9.eu-central-1.compute.internal │
  │   0/4 cpu                                   │
  ╰─────────────────────────────────────────────╯
"""
ADDRESSES = ["ip-10-0-112-7.eu-central-1.compute.internal", "ip-10-0-113-9.eu-central-1.compute.internal"]
ZONE = [
    *(node(name, zone="eu-central-1a") for name in ADDRESSES),
    device_class(),
    slice_on(ADDRESSES[0], gpu("g0"), gpu("g1")),
    pod("p").req(cpu="1"),
]


@pytest.mark.parametrize("columns", ["8", "30", "50", "66"])
def test_a_node_is_a_paragraph_where_its_line_does_not_fit_and_its_name_is_never_broken(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    snapshot = cluster(ZONE)
    solved = solve_greedy_round(snapshot)
    file = io.StringIO()
    show(topology_report(solved.plan, topology(solved)), file)
    assert NARROW in file.getvalue()


@pytest.mark.parametrize("columns", ["67", "80", "300"])
def test_a_node_is_a_line_where_it_fits(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", columns)
    assert f"│ {ADDRESSES[0]}  1/4 cpu  ●  [··] │\n" in drawn(ZONE)


def test_a_line_that_is_wider_than_a_page_is_not_cut_in_a_pipe(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    names = [f"{letter * 60}.{letter * 58}" for letter in "ab"]
    text = drawn(node(names[0]), node(names[1]))
    assert all(f"│ {name}" in text for name in names)


def test_many_pods_and_devices_are_counted():
    full = [node("a", cpu="40"), device_class(), slice_on("a", *(gpu(f"g{k}") for k in range(20)))]
    text = drawn(
        full, group("g"), pod("m").member("g").times(12), pod("p").times(5), claim("x"), user("q", "x")
    )
    assert "│ a  0/40 cpu  12 A 6 ●  [1 ● 19 ·] │" in text


def test_a_large_cluster_is_a_row_for_each_domain():
    racks = [rack(f"r{r}", *((f"n-{r}-{k}", 4) for k in range(2))) for r in range(40)]
    cards = [device_class(), slice_on("n-0-0", gpu("g0"), gpu("g1")), user("p", "x").on("n-0-0")]
    cards.append(claim("x", has=[("r", "n-0-0", "g0")], at="n-0-0", users=["p"]))
    text = drawn(racks, cards, group("g", "rack", gang=3), MEMBER.times(3))
    head, first, second = text.splitlines()[1], *text.splitlines()[3:5]
    assert head.split() == ["domain", "nodes", "requested", "devices", "taken", "pods"]
    assert first.split() == ["r0", "2", "6/8", "cpu", "1/2", "3", "A", "1", "○"]
    assert second.split() == ["r1", "2", "0/8", "cpu"]


def test_the_twenty_seventh_group_is_a2():
    objects = [[group(f"g{k}"), pod(f"m{k}").member(f"g{k}")] for k in range(28)]
    text = drawn(node("a", cpu="40"), objects)
    assert "Y    default/g24" in text
    assert "A2   default/g26" in text
    assert "1 A2 1 B2" in text


def test_a_member_that_ran_before_is_a_small_letter_in_the_colour_of_its_group():
    snapshot = cluster(rack("r1", ("a", 8)), group("g", "rack"), MEMBER, MEMBER.named("old").on("a"))
    solved = solve_round(snapshot, SolveOptions(workers=1))
    console = Console(file=io.StringIO(), force_terminal=True, color_system="standard", width=80)
    console.print(topology_report(solved.plan, topology(solved)))
    assert "\x1b[36ma\x1b[0m" in console.file.getvalue()
    assert "\x1b[1;36mA\x1b[0m" in console.file.getvalue()


def test_the_document_has_the_picture_too(tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(manifest(cluster(rack("r1", ("a", 4)), group("g", "rack"), MEMBER)))
    result = CliRunner().invoke(main, ["solve", str(file), "--show", "topology", "-o", "json"])
    document = json.loads(result.stdout)
    assert Plan.model_validate(document).placed() == {"default/m": "a"}
    assert Topology.model_validate(document["topology"]).key == "rack"


@pytest.mark.parametrize("name", catalogue.names())
def test_every_bundled_instance_can_be_drawn(name):
    """Every pod that greedy places is in the picture, in its node's line."""
    snapshot = load_snapshot([str(catalogue.path(name))])
    solved = solve_greedy_round(snapshot)
    plan, picture = solved.plan, topology(solved)
    nodes = {node.node: node for domain in picture.domains for node in domain.nodes}
    assert set(nodes) == {node.name for node in snapshot.nodes}
    for pod_key, place in plan.placed().items():
        assert ("placed", pod_key) in {(seat.state, seat.pod) for seat in nodes[place].pods}
    file = io.StringIO()
    show(topology_report(plan, picture), file)
    assert all(node in file.getvalue() for node in nodes)


@pytest.mark.parametrize(
    "arguments, line",
    [
        (["--topology-key", "rack"], "--topology-key goes with --show topology only"),
        (
            ["--show", "topology", "--topology-key", "row"],
            "no node has the label row; there are: kubernetes.io/hostname, rack",
        ),
    ],
)
def test_a_key_that_means_nothing_is_one_line(arguments, line, tmp_path):
    file = tmp_path / "cluster.yaml"
    file.write_text(manifest(cluster(rack("r1", ("a", 4)), pod("p"))))
    result = CliRunner().invoke(main, ["solve", str(file), *arguments])
    assert result.exit_code == 2
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout
