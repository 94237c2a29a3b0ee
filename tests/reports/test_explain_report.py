"""What a person reads of an explanation, to the letter."""

# ruff: noqa: E501 (reports are as wide as they are)

import io
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.builders import budget, cluster, group, node, pod

import kubestow
from kubestow.cli import main
from kubestow.framework.runs.explain import explain
from kubestow.reports.explain import explain_report
from kubestow.reports.layout import show

P = pod("p").req(cpu="2").priority(10)


def report(*objects, name="p", **more) -> str:
    file = io.StringIO()
    show(explain_report(explain(cluster(*objects), name, **more)), file)
    return file.getvalue()


def full(name, *victims):
    return [node(name, cpu="2"), *(pod(v).req(cpu="1").label(app=v).on(name) for v in victims)]


NOWHERE = """\
test: default/p fits nowhere (priority 10, place 1 of 1 in the queue)
0/6 nodes are available: 1 node(s) were unschedulable, 5 Insufficient cpu. no new claims to deallocate, preemption: 0/6
nodes are available: 1 No preemption victims found for incoming pod, 5 Preemption is not helpful for scheduling.

Nodes that do not take it, the nearest first
  nodes            why not                                             evictions there
  ─────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
  b                NodeResourcesFit: Insufficient cpu                  no: No preemption victims found for incoming pod
                     2 cpu wanted, 1 of 4 free: 1 short
  a1, a2, a3, a4   NodeResourcesFit: Insufficient cpu                  no: Preemption is not helpful for scheduling
                     2 cpu wanted, 1 of 1 free: 1 short
  c                NodeUnschedulable: node(s) were unschedulable       no: Preemption is not helpful for scheduling
                     the node is cordoned
                   TaintToleration: node(s) had untolerated taint(s)
                     no toleration of dedicated=gpu:NoSchedule
"""

EVICTIONS = """\
test: default/p can go to m after evictions: default/c, default/d would go (priority 10, place 1 of 1 in the queue)
0/2 nodes are available: 2 Insufficient cpu.

Nodes that do not take it, the nearest first
  nodes   why not                                evictions there
  ─────────────────────────────────────────────────────────────────────────────────────────────────
  m       NodeResourcesFit: Insufficient cpu     default/c, default/d would go <- chosen
            2 cpu wanted, 0 of 2 free: 2 short
  n       NodeResourcesFit: Insufficient cpu     default/a, default/b would go (1 budget violation)
            2 cpu wanted, 0 of 2 free: 2 short
"""

FITS = """\
test: default/p goes to a (priority 10, place 1 of 1 in the queue)
It fits on 2 of 3 nodes.

Nodes that take it, the best first
  node   score   made of
  ──────────────────────────────────────────────────────────────────────────────────────────────────────────
  a        454   TaintToleration 300, NodeResourcesFit 86, NodeResourcesBalancedAllocation 68   <- goes here
  b        435   TaintToleration 300, NodeResourcesFit 73, NodeResourcesBalancedAllocation 62

Nodes that do not take it, the nearest first
  nodes   why not
  ─────────────────────────────────────────────────────
  c       NodeUnschedulable: node(s) were unschedulable
            the node is cordoned
"""

ONLY = """\
test: default/p goes to a (priority 10, before all others)
It fits on 1 of 1 node.

Nodes that take it, the best first
  node
  ───────────────────
  a      <- goes here
"""

PROMISED = """\
test: default/p fits nowhere (priority 10, place 2 of 2 in the queue)
0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: 1
Insufficient cpu.

Nodes that do not take it, the nearest first
  nodes   why not                                       evictions there
  ──────────────────────────────────────────────────────────────────────────
  n       NodeResourcesFit: Insufficient cpu            no: Insufficient cpu
            2 cpu wanted, -1 of 2 free: 3 short
            (counting default/first, nominated there)
"""

GANG = """\
test: default/p is not placed with its group default/g (priority 0, place 1 of 3 in the queue)
It fits on 1 of 1 node.
pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and
no plugin rejected pod

Nodes that take it, the best first
  node
  ────────
  n
"""

GATED = """\
test: default/p waits for its gates (priority 10)
waiting for scheduling gates: [example.com/wait]
"""

UNTRIED = """\
test: default/p is not tried (priority 10)
no profile of the configuration is called 'x', the pod's schedulerName
"""

NO_NODES = """\
test: default/p fits nowhere (priority 10, place 1 of 1 in the queue)
no nodes available to schedule pods
"""

MEMBER = pod("p").req(cpu="1").member("g")


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param(
            [
                *(node(f"a{k}", cpu="1") for k in (1, 2, 3, 4)),
                node("b", cpu="4"),
                pod("v").req(cpu="3").priority(50).on("b"),
                node("c").taint("dedicated", "gpu").cordoned(),
                P,
            ],
            NOWHERE,
            id="nodes that say the same share a row, every filter has its say",
        ),
        pytest.param(
            [*full("n", "a", "b"), *full("m", "c", "d"), budget("k", app="a", allowed=0), P],
            EVICTIONS,
            id="evictions and the node that is chosen",
        ),
        pytest.param(
            [node("a", cpu="8"), node("b", cpu="4"), node("c").cordoned(), P], FITS, id="where it fits"
        ),
        pytest.param(
            [
                node("n", cpu="2"),
                pod("v").req(cpu="1").on("n"),
                P.named("first").priority(20).nominated("n"),
                P,
            ],
            PROMISED,
            id="room that is promised to a nominated pod",
        ),
        pytest.param(
            [node("n", cpu="2"), group("g", gang=3), MEMBER, MEMBER.named("q"), MEMBER.named("r")],
            GANG,
            id="a member of a group that does not start",
        ),
        pytest.param([node("a"), P.gated()], GATED, id="a gated pod"),
        pytest.param([node("a"), P.scheduler("x")], UNTRIED, id="a pod of another scheduler"),
        pytest.param([P], NO_NODES, id="no nodes"),
    ],
)
def test_the_whole_report(objects, expected):
    assert report(*objects) == expected


def test_a_single_node_has_no_scores_and_alone_is_before_all_others():
    assert report(node("a"), P, alone=True) == ONLY


MANY = """\
  n49                               NodeResourcesFit: Insufficient cpu      no: Preemption is not helpful for scheduling
                                      2 cpu wanted, 50m of 50m free:
                                    1950m short
  49 nodes: such as n48, n47, n46   NodeResourcesFit: Insufficient cpu
  30 nodes: such as c00, c01, c02   NodeUnschedulable: node(s) were
                                    unschedulable
  79 nodes grouped by kind (--all shows every row)
"""


def test_many_nodes_are_grouped_by_what_rejects_them():
    small = [node(f"n{k:02d}", cpu=f"{k + 1}m") for k in range(59)]
    cordoned = [node(f"c{k:02d}", zone=f"z{k}").cordoned().taint("k", f"v{k}") for k in range(30)]
    assert report(*small, *cordoned, P).endswith(MANY)


def test_the_example_of_the_documentation_is_what_is_printed():
    page = (Path(kubestow.__file__).parent / "docs" / "explain.md").read_text(encoding="utf-8")
    command, _, rest = page.partition("$ kubestow ")[2].partition("\n")
    result = CliRunner().invoke(main, command.split())
    assert result.stdout == rest.partition("```")[0]


def test_the_grouped_table_of_the_documentation_is_what_is_printed():
    page = (Path(kubestow.__file__).parent / "docs" / "output.md").read_text(encoding="utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0]
    small = [node(f"small-{k}", cpu=f"{k + 1}m") for k in range(300)]
    tainted = [node(f"team-{k}").taint("dedicated", f"team-{k}") for k in range(40)]
    assert len(shown.splitlines()) > 3
    assert report(*small, *tainted, pod("p").req(cpu="2").never()).endswith(shown)
