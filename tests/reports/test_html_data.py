"""What stands on a page: numbers of documents and of replayed states, and nothing else."""

import base64
import hashlib
import json
from functools import cache
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import budget, cluster, group, node, pod
from support.devices import claim, device_class, gpu, slice_on, user

from kubestow.framework.build import build_cluster
from kubestow.instances import catalogue
from kubestow.instances.manifests import load_snapshot
from kubestow.models.errors import InputError
from kubestow.models.kube_version import KubeVersion
from kubestow.models.plan import Plan, Stats, Tier, Unschedulable
from kubestow.models.study import StudiedInstance, Study
from kubestow.reports.figures import tiers
from kubestow.reports.html.answers import tier_rows
from kubestow.reports.html.cluster import BEFORE, cluster_data, cluster_of_plans, states_of, totals
from kubestow.reports.html.page import round_page, study_page
from kubestow.reports.html.reading import Rounds, read_document
from kubestow.reports.html.rules import budget_rows, seats, spread_rows
from kubestow.solver.api import solve_greedy
from kubestow.solver.compare import compared
from kubestow.solver.plans.reopen import reopen
from kubestow.solver.plans.replay import ReplayFailure
from kubestow.solver.upgrade import upgrade


def reopened(plan, snapshot):
    """Send a plan through its document, and replay what comes back."""
    [read] = read_document("plan.json", json.loads(plan.model_dump_json(by_alias=True))).plans.values()
    return reopen(build_cluster(snapshot), read)


def greedy(*objects):
    """Solve a round with the baseline; return it reopened, by its name."""
    snapshot = cluster(*objects)
    return {"greedy": reopened(solve_greedy(snapshot), snapshot)}


# -- documents --

PLAN = Plan(instance="i", scheduler="greedy", status="FEASIBLE", tiers=(), stats=Stats())


def with_claim(allocation):
    return json.dumps({**PLAN.model_dump(by_alias=True), "allocations": [allocation]})


def one_release():
    found = upgrade(cluster(), KubeVersion.V1_36)
    return found.model_copy(update={"kube_version": "1.36"}).model_dump_json(by_alias=True)


def uneven():
    longer = PLAN.model_copy(
        update={"tiers": (Tier(name="t", sense="min", value=0, bound=None, proven=False),)}
    )
    return compared(PLAN, PLAN).model_copy(update={"optimal": longer}).model_dump_json(by_alias=True)


@pytest.mark.parametrize(
    "text, told",
    [
        pytest.param("[1]", "f: is not a document that solve, compare, study or simulate", id="a list"),
        pytest.param('{"answer": "placed"}', "f: is an answer of explain --why: it goes with", id="a why"),
        pytest.param('{"nodes": []}', "f: is not a document that solve, compare, study", id="another"),
        pytest.param(
            '{"steps": []}',
            "f: instance: no document of `kubestow solve -o json`",
            id="a plan that lacks a field",
        ),
        pytest.param(
            '{"instances": 3}',
            "f: instances: no document of `kubestow study -o json`",
            id="a study without instances",
        ),
        pytest.param(
            '{"runs": {}, "scenario": "s", "seconds": 1, "seed": 0}',
            "f: runs: no document of `kubestow simulate -o json`",
            id="no run",
        ),
        pytest.param(
            with_claim({"claim": "c", "node": "n"}),
            "f: allocations.0.devices: no document",
            id="a claim without its devices",
        ),
        pytest.param(
            with_claim({"devices": []}), "f: allocations.0.claim: no document", id="devices of no claim"
        ),
        pytest.param(
            one_release(), "f: against: is the release before the upgrade as well", id="one release"
        ),
        pytest.param(uneven(), "f: greedy.tiers: are other tiers", id="plans of different rounds"),
    ],
)
def test_what_is_no_document_is_told_in_a_line(text, told):
    with pytest.raises(InputError) as failure:
        read_document("f", json.loads(text))
    assert told in str(failure.value)
    assert "\n" not in str(failure.value)


@pytest.mark.parametrize("name", catalogue.names())
def test_a_plan_that_went_through_its_document_still_holds(name):
    snapshot = load_snapshot(catalogue.locate(name))
    plan = solve_greedy(snapshot)
    assert reopened(plan, snapshot).plan == plan


def test_a_plan_with_a_preference_still_holds():
    snapshot = cluster(node("n"), pod("p").req(cpu="1"))
    assert reopened(solve_greedy(snapshot, "pack"), snapshot).plan.tiers[-1].name == "pack"


def test_a_plan_of_another_cluster_is_refused():
    plan = solve_greedy(cluster(node("n", cpu="2"), pod("p").req(cpu="2")))
    with pytest.raises(ReplayFailure, match="Insufficient cpu"):
        reopened(plan, cluster(node("n", cpu="1"), pod("p").req(cpu="2")))


# -- a round --

CONTESTED = [
    node("a", zone="east", cpu="2").label(rack="r1"),
    node("b", zone="west", cpu="4").cordoned(),
    pod("old").req(cpu="2").label(app="db").priority(0).on("a"),
    pod("new").req(cpu="1").priority(10),
    pod("big").req(cpu="9").priority(5),
    budget("keep", allowed=0, app="db"),
]


def test_nodes_have_their_zone_and_what_is_requested_in_each_state():
    solved = greedy(*CONTESTED)
    seen = cluster_data(solved["greedy"].cluster, states_of(solved), "rack")
    assert seen["keys"] == {"zone": "topology.kubernetes.io/zone", "rack": "rack"}
    cpu = seen["resources"].index("cpu")
    told = [(n["name"], n["zone"], n["rack"], n["cordoned"]) for n in seen["nodes"]]
    assert told == [("a", "east", "r1", False), ("b", "west", None, True)]
    assert [n["allocatable"][cpu] for n in seen["nodes"]] == [2000, 4000]
    assert [n["requested"][BEFORE][cpu] for n in seen["nodes"]] == [2000, 0]
    assert [n["requested"]["greedy"][cpu] for n in seen["nodes"]] == [1000, 0]


def test_pods_have_their_node_in_each_state():
    solved = greedy(*CONTESTED)
    seen = cluster_data(solved["greedy"].cluster, states_of(solved))
    where = {
        name: dict(zip(seen["pods"]["pod"], places, strict=True))
        for name, places in seen["pods"]["where"].items()
    }
    assert where[BEFORE] == {"default/old": 0, "default/new": -1, "default/big": -1}
    assert where["greedy"] == {"default/old": -1, "default/new": 0, "default/big": -1}
    asked = [seen["requests"][k] for k in seen["pods"]["requests"]]
    assert asked == ["2 cpu", "1 cpu", "9 cpu"]


def test_totals_are_sums_over_all_nodes():
    solved = greedy(*CONTESTED)
    [cpu] = [row for row in totals(solved["greedy"].cluster, states_of(solved)) if row["resource"] == "cpu"]
    assert cpu["allocatable"] == "6"
    assert cpu["requested"][BEFORE] == {"text": "2", "share": 2 / 6}
    assert cpu["requested"]["greedy"] == {"text": "1", "share": 1 / 6}


def test_budgets_count_the_evicted_pods_that_charge_them():
    solved = greedy(*CONTESTED, budget("other", allowed=2, app="web"))
    plans = {name: item.plan for name, item in solved.items()}
    assert budget_rows(solved["greedy"].cluster, plans) == [
        {"budget": "default/keep", "allowed": 0, "used": {"greedy": {"evicted": 1, "violating": 1}}},
        {"budget": "default/other", "allowed": 2, "used": {"greedy": {"evicted": 0, "violating": 0}}},
    ]


WEB = pod("w").label(app="web").req(cpu="1").spread("zone", max_skew=1)


def test_skew_is_that_of_the_fullest_domain_in_each_state():
    solved = greedy(
        *(node(name, zone=name, cpu="2") for name in ("x", "y", "z")), WEB.named("w-0").on("x"), WEB
    )
    [row] = spread_rows(solved["greedy"].cluster, states_of(solved))
    assert (row["pods"], row["key"], row["maxSkew"], row["carriers"]) == (
        "app=web",
        "topology.kubernetes.io/zone",
        1,
        1,
    )
    assert row["states"][BEFORE] == {"counts": ["x: 1", "y: 0", "z: 0"], "skew": 1}
    assert row["states"]["greedy"] == {"counts": ["x: 1", "y: 1", "z: 0"], "skew": 1}


def test_many_domains_are_grouped_by_their_count():
    nodes = [node(f"n{k}", zone=f"z{k}") for k in range(20)]
    solved = greedy(*nodes, WEB.named("w-0").on("n0"), WEB.named("w-1").on("n1"), WEB)
    [row] = spread_rows(solved["greedy"].cluster, states_of(solved))
    assert row["states"][BEFORE]["counts"] == ["2 domains with 1", "18 domains with 0"]
    assert row["states"]["greedy"]["counts"] == ["3 domains with 1", "17 domains with 0"]


def test_a_constraint_that_no_node_takes_part_in_has_no_skew():
    solved = greedy(node("n"), WEB)
    [row] = spread_rows(solved["greedy"].cluster, states_of(solved))
    assert row["states"][BEFORE] == {"counts": [], "skew": None}


def test_groups_and_devices_are_seen_after_each_plan():
    solved = greedy(
        *(node(name).label(rack="r") for name in ("a", "b")),
        device_class(),
        slice_on("a", gpu("g0"), gpu("g1")),
        claim("c"),
        group("g", "rack", gang=1),
        user("m", "c").req(cpu="1").member("g"),
    )
    seen = seats(solved, "rack")
    [row] = seen["groups"]
    assert (row["group"], row["waiting"], row["minCount"]) == ("default/g", 1, 1)
    assert row["after"]["greedy"] == {"placed": 1, "standing": 1, "domains": ["r"]}
    states = {item["device"]: item["after"]["greedy"]["state"] for item in seen["devices"]}
    assert sorted(states.values()) == ["free", "taken"]
    assert {item["place"] for item in seen["devices"]} == {"a"}


def test_without_the_instance_there_are_the_pods_and_nodes_that_plans_name():
    solved = greedy(*CONTESTED)
    seen = cluster_of_plans({"greedy": solved["greedy"].plan})
    assert [item["name"] for item in seen["nodes"]] == ["a"]
    places = {
        name: dict(zip(seen["pods"]["pod"], of, strict=True)) for name, of in seen["pods"]["where"].items()
    }
    assert places[BEFORE] == {"default/old": 0, "default/new": -1, "default/big": -1}
    assert places["greedy"] == {"default/old": -1, "default/new": 0, "default/big": -1}


def test_two_releases_have_their_tiers_beside_each_other():
    even = [node(name, cpu="10", memory="10Gi") for name in "ab"]
    running = [pod("r").req(cpu="2", memory="2Gi").on("a"), pod("s").req(cpu="1", memory="3Gi").on("b")]
    waiting = [pod("p").req(cpu="2", memory="1Gi").priority(10), pod("q").req(cpu="9", memory="1Gi")]
    found = upgrade(cluster(*even, *running, *waiting, release="1.34"), KubeVersion.V1_36)
    read = read_document("f", json.loads(found.model_dump_json(by_alias=True)))
    assert {row["name"]: (row["values"], row["first"]) for row in tier_rows(read) if not row["zero"]} == {
        "scheduled[priority=10]": ({"1.34": 1, "1.36": 1}, False),
        "scheduled[priority=0]": ({"1.34": 1, "1.36": 0}, True),
    }
    page = Parts(round_page(read))
    assert page.document["plans"] == ["1.34", "1.36"]
    assert "After the upgrade 1 pod would wait, 1 pod would move." in "".join(page.text)
    [axes] = tiers(read).axes
    assert [bar.get_width() for bar in axes.patches] == [1, 1, 1, 0]


# -- pages --


class Parts(HTMLParser):
    """A page read as a browser does: its scripts, and the text of every other element."""

    def __init__(self, page):
        super().__init__()
        self.scripts, self.tags, self.urls, self.text, self.policy = [], [], [], [], ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append(tag)
        self._inside = tag
        self.urls += [value for name, value in attrs if name in ("src", "href", "action", "data", "poster")]
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag == "script":
            self.scripts.append((attributes.get("type", ""), ""))

    def handle_data(self, data):
        if self._inside == "script":
            self.scripts[-1] = (self.scripts[-1][0], self.scripts[-1][1] + data)
        else:
            self.text.append(data)

    def handle_endtag(self, tag):
        self._inside = ""

    @property
    def document(self):
        [text] = [text for kind, text in self.scripts if kind == "application/json"]
        return json.loads(text)


@cache
def harmless():
    return Parts(round_page(Rounds({"greedy": PLAN})))


TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=30),
    st.sampled_from(
        [
            "</script><script>alert(1)</script>",
            "<!--<script>",
            "<img src=x onerror=alert(1)>",
            '"><b>',
            "{{ 7*7 }}",
        ]
    ),
)


@settings(max_examples=15)
@given(instance=TEXTS, name=TEXTS, message=TEXTS)
def test_whatever_a_document_says_is_text(instance, name, message):
    left = Unschedulable(pod=f"shop/{name}", message=message, blocked_by=(name,))
    plan = PLAN.model_copy(update={"instance": instance, "unschedulable": (left,)})
    plain, hostile = harmless(), Parts(round_page(Rounds({"greedy": plan})))
    assert hostile.tags == plain.tags
    assert [text for kind, text in hostile.scripts if not kind] == [
        text for kind, text in plain.scripts if not kind
    ]
    [row] = hostile.document["leftOut"]
    assert (row["message"], row["pods"], row["blockedBy"]) == (message, [f"shop/{name}"], [name])
    assert instance in "".join(hostile.text)


def test_nothing_is_loaded_and_only_the_known_scripts_run():
    page = Parts(round_page(Rounds(greedy_plans())))
    assert all(url.startswith(("#", "data:")) for url in page.urls)
    assert page.policy.startswith("default-src 'none'")
    known = {
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for kind, text in page.scripts
        if not kind
    }
    assert known
    assert all(f"'sha256-{digest}'" in page.policy for digest in known)


def greedy_plans():
    return {"greedy": solve_greedy(cluster(*CONTESTED))}


def test_a_study_has_every_row():
    rows = (StudiedInstance.failed("monday.yaml", "no such file"), StudiedInstance.failed("<b>", "why"))
    page = Parts(study_page(Study(instances=rows)))
    assert [row["instance"] for row in page.document["instances"]] == ["monday.yaml", "<b>"]
    assert "2 instances: 0 proven optimal, 0 where greedy falls behind, 2 failed" in "".join(page.text)
