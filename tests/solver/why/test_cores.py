"""All minimal sets of rules that keep a pod waiting, beside every subset of its rules tried."""

from itertools import combinations

import pytest
from support.builders import cluster, node, pod
from support.oracle.placing import places_any
from support.why_rounds import OPTIONS, asked_round

from kubestow.framework.build import build_cluster
from kubestow.solver.check.documents import check_document
from kubestow.solver.why.question import why
from kubestow.solver.why.reasons import lifted, reasons_of
from kubestow.solver.why.subjects import find_subject

P = pod("p").req(cpu="2").priority(10)
MANY = 9
"""More cores than these rounds have."""


def kinds(core):
    return sorted(row["kind"] for row in core["core"])


@pytest.mark.parametrize(
    "objects, expected",
    [
        pytest.param([node("n", cpu="1"), P], [["request"]], id="one"),
        pytest.param(
            [node("n", cpu="1"), P.select(disk="ssd")],
            [["nodeSelector"], ["request"]],
            id="two that have nothing to do with each other",
        ),
        pytest.param(
            [node("n", cpu="1").cordoned(), P.select(disk="ssd").gated("example.com/quota")],
            [["nodeSelector"], ["request"], ["schedulingGate"], ["unschedulable"]],
            id="four of one rule each",
        ),
        pytest.param(
            [node("a", cpu="8").taint("x"), node("b", cpu="1").label(disk="ssd"), P.select(disk="ssd")],
            [["nodeSelector", "request"], ["request", "taint"]],
            id="two that share a rule",
        ),
    ],
)
def test_all_cores_are_found(objects, expected):
    document = why(cluster(*objects), "p", OPTIONS, cores=MANY)
    assert sorted(map(kinds, [document, *document["otherCores"]])) == expected
    assert document["allCores"]
    assert [item for item in check_document(cluster(*objects), document) if item.holds is False] == []


def test_no_more_cores_are_found_than_are_asked_for():
    objects = [node("n", cpu="1").cordoned(), P.select(disk="ssd")]
    document = why(cluster(*objects), "p", OPTIONS, cores=2)
    assert (len(document["otherCores"]), document["allCores"]) == (1, False)


def minimal_sets(snapshot, reasons):
    """Every set of reasons that keeps the pods, of which no proper subset does; by trying all plans."""
    kept = []
    for size in range(len(reasons) + 1):
        for names in combinations(range(len(reasons)), size):
            if any(found <= set(names) for found in kept):
                continue
            gone = [reason for k, reason in enumerate(reasons) if k not in names]
            if not places_any(build_cluster(lifted(snapshot, gone))):
                kept.append(set(names))
    return kept


@pytest.mark.parametrize("seed", [1003, 1043, 1074])
def test_the_cores_are_those_of_all_subsets(seed):
    snapshot = asked_round(seed)
    subject = find_subject(build_cluster(snapshot), snapshot.asked[0])
    reasons = reasons_of(subject)
    document = why(snapshot, snapshot.asked[0], OPTIONS, cores=MANY)
    names = [reason.identity for reason in reasons]
    found = [
        {names.index((row["kind"], row["object"], row["field"], row["text"])) for row in core["core"]}
        for core in (document, *document["otherCores"])
    ]
    assert sorted(map(sorted, found)) == sorted(map(sorted, minimal_sets(snapshot, reasons)))
    assert document["allCores"]
