"""What a person reads of a trace: a row for each cycle, and the reason."""

import io

from kubestow.reports.layout import show
from kubestow.reports.trace import trace_report

REJECTED = {"plugin": "NodeResourcesFit", "code": "Unschedulable", "reasons": ["Insufficient cpu"]}
TRACE = {
    "version": 1,
    "cycles": [
        {"pod": "shop/a", "filter": {"n3": REJECTED}, "feasible": ["n1", "n2"],
         "totals": {"n1": 612, "n2": 600}, "result": "bound", "node": "n1", "victims": []},
        {"pod": "shop/b", "filter": {"n1": REJECTED, "n2": REJECTED, "n3": REJECTED}, "feasible": [],
         "result": "nominated", "node": "n2", "victims": ["shop/old"], "message": "0/3 nodes are available"},
        {"pod": "shop/c", "filter": {"n1": REJECTED, "n2": REJECTED, "n3": REJECTED}, "feasible": [],
         "result": "unschedulable", "node": None, "victims": [],
         "message": "0/3 nodes are available: 3 Insufficient cpu."},
        {"pod": "shop/d", "filter": {}, "feasible": ["n1"], "result": "bound", "node": "n1", "victims": []},
    ],
    "groups": [],
}  # fmt: skip

TRIED = [
    {"podGroup": "shop/gang", "pods": ["shop/g-0", "shop/g-1"], "placement": "rack-1", "result": "scheduled",
     "victims": []},
    {"compositePodGroup": "shop/tree", "pods": ["shop/t-0", "shop/t-1", "shop/t-2"], "placement": None,
     "result": "waitingOnPreemption", "message": "it waits", "victims": ["shop/old"], "groups": [
         {"compositePodGroup": "shop/tree", "placement": "", "status": "Unschedulable", "message": "no"},
         {"podGroup": "shop/left", "placement": "", "status": "Success"},
         {"podGroup": "shop/right", "placement": "", "status": "Unschedulable", "message": "1 of 2"},
     ]},
]  # fmt: skip

REPORT = """\
dump.yaml: 4 cycles, 2 bound, 1 nominated, 1 unschedulable

Cycles, in queue order
  pod      result          node   score   because
  ────────────────────────────────────────────────────────────────────────────────────
  shop/a   bound           n1       612   2 feasible nodes, NodeResourcesFit rejects 1
  shop/b   nominated       n2             evicts shop/old
  shop/c   unschedulable                  0/3 nodes are available: 3 Insufficient cpu.
  shop/d   bound           n1             1 feasible node
"""


def report(document) -> str:
    file = io.StringIO()
    show(trace_report("dump.yaml", document), file)
    return file.getvalue()


def test_the_whole_report():
    assert report(TRACE) == REPORT


def test_no_pending_pod_is_no_cycle():
    assert report({"version": 1, "cycles": [], "groups": []}) == "dump.yaml: 0 cycles\n"


def test_a_group_has_a_row_and_the_groups_of_its_tree_follow_it():
    told = report({"version": 1, "cycles": [], "groups": TRIED})
    assert (
        told
        == """\
dump.yaml: 0 cycles

Cycles of groups
  group          pods   result                placement    because
  ──────────────────────────────────────────────────────────────────────────────────
  shop/gang         2   scheduled             rack-1
  shop/tree         3   waitingOnPreemption                it waits: evicts shop/old
    shop/left           Success               everywhere
    shop/right          Unschedulable         everywhere   1 of 2
"""
    )
