"""What a person reads of changes, to the letter; docs/what-if.md has the page of a zone that is gone."""

import io

from support.what_if import changed, cluster, node, pod

from kubestow.models.what_if import WhatIf
from kubestow.reports.layout import show
from kubestow.reports.what_if import what_if_report
from kubestow.solver.api import SolveOptions
from kubestow.solver.what_if import what_if

PAGE = """\
cluster

Rounds
           scheduled   evictions   violations   greedy              first difference         proof
  ─────────────────────────────────────────────────────────────────────────────────────────────────────────
  before      1 of 1           0            0   1 of 1, 0 evicted                            proven optimal
  test        1 of 1           0            0   1 of 1, 0 evicted   none                     proven optimal
  test        0 of 2           0            0   0 of 2, 0 evicted   scheduled[priority=10]   proven optimal

test
  note: Pod shop/p: nothing that a round depends on is changed
Nothing changes for any pod.

Tiers, most important first
  tier                     before   bound   greedy   after   bound   greedy
  ─────────────────────────────────────────────────────────────────────────────
  scheduled[priority=10]        1       1        1       1       1        1

test
  nodes that are gone: n2
  pods that their controllers make again: shop/r
In the optimum 2 pods would wait.
With greedy 2 pods would wait.

Tiers, most important first
  tier                     before   bound   greedy   after   bound   greedy
  ───────────────────────────────────────────────────────────────────────────────────────────────
  scheduled[priority=10]        1       1        1       0       0        0   <- first difference

Pods with another fate
  pod      before   after
  ─────────────────────────────────────────────────────
  shop/p   n2       -       runs only before the change
  shop/r   n2       -       runs only before the change
"""


DIFFERS = "scheduled[priority=10]"


def answer() -> WhatIf:
    before = cluster(
        node("n1", cpu="1"),
        node("n2"),
        pod("p", cpu="2", priority=10),
        pod("r", "n2", "ReplicaSet/r", cpu="2", priority=0),
    )
    nothing = {"set": "pod/p", "field": "spec.priority", "value": 10}
    return what_if(
        before, [changed(before, nothing), changed(before, {"remove": "n2"})], SolveOptions(workers=1)
    )


def written(found: WhatIf) -> str:
    file = io.StringIO()
    show(what_if_report(found), file)
    return file.getvalue()


def test_the_whole_page():
    assert written(answer()) == PAGE


def test_what_is_not_proven_is_open_and_the_table_of_rounds_has_the_gap():
    found = answer()
    scenario = found.scenarios[1]
    tiers = [
        tier.model_copy(update={"after": tier.after.model_copy(update={"bound": 1, "proven": False})})
        if tier.name == DIFFERS
        else tier
        for tier in scenario.tiers
    ]
    plan = scenario.after.optimal
    open_tiers = [
        tier.model_copy(update={"bound": 1, "proven": False}) if tier.name == DIFFERS else tier
        for tier in plan.tiers
    ]
    plan = plan.model_copy(update={"tiers": tuple(open_tiers), "status": "FEASIBLE"})
    after = scenario.after.model_copy(update={"optimal": plan})
    scenario = scenario.model_copy(update={"tiers": tuple(tiers), "after": after})
    page = written(found.model_copy(update={"scenarios": (scenario,)}))
    assert f"{DIFFERS} is 0, at most 1 (gap 1)" in " ".join(page.split())
    assert "1 (open)" in page
