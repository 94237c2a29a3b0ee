"""Bad input from Python raises KubestowError with one line that names what is wrong."""

import re

import pytest

import kubestow as ks

ROUND = ks.cluster(ks.node("a"), ks.pod("p"))


def odd(**spec):
    return ks.pod("x").changed(lambda manifest: manifest["spec"].update(spec))


CLUSTERS = [
    ("two nodes have one name", lambda: [ks.node("a"), ks.node("a")], "Node a: stands 2 times"),
    ("two pods have one name", lambda: [ks.pod("x"), ks.pod("x")], "Pod default/x: stands 2 times"),
    (
        "a copy has the name of another pod",
        lambda: [ks.pod("x").times(2), ks.pod("x-1")],
        "Pod default/x-1: stands 2 times",
    ),
    (
        "two budgets have one name",
        lambda: [ks.budget("b", allowed=1), ks.budget("b", allowed=2)],
        "PodDisruptionBudget default/b: stands 2 times",
    ),
    (
        "a node's cpu is no quantity",
        lambda: ks.node("a", cpu="two"),
        "Node a: status.allocatable.cpu: 'two' is not a quantity",
    ),
    (
        "a request is no quantity",
        lambda: ks.pod("x").req(cpu="2x"),
        "Pod default/x: spec.containers[0].resources.requests.cpu: '2x' is not a quantity",
    ),
    (
        "a priority is a word",
        lambda: ks.pod("x").priority("high"),
        "Pod default/x: spec.priority: must be a whole number, not 'high'",
    ),
    (
        "a budget allows a word",
        lambda: ks.budget("b", allowed="x"),
        "PodDisruptionBudget default/b: status.disruptionsAllowed: must be a whole number",
    ),
    (
        "a budget is given a number where its labels stand",
        lambda: ks.budget("b", 5),
        "PodDisruptionBudget default/b: labels: must be a map, such as {'app': 'web'}, not 5",
    ),
    (
        "a label of a namespace is a number",
        lambda: ks.namespace("n", a=1),
        "Namespace n: metadata.labels.a: must be",
    ),
    (
        "a gang is a word",
        lambda: ks.group("g", gang="x"),
        "PodGroup default/g: spec.schedulingPolicy.gang.minCount",
    ),
    (
        "a composite gang is a word",
        lambda: ks.composite("g", gang="x"),
        "CompositePodGroup default/g: spec.schedulingPolicy.gang.minGroupCount",
    ),
    (
        "a pod has a name with capitals",
        lambda: ks.pod("A_b"),
        "Pod default/A_b: metadata.name: must be a DNS subdomain",
    ),
    ("a node has no name", lambda: ks.node(""), "metadata.name: required"),
    (
        "a spread constraint allows no skew",
        lambda: ks.pod("x").spread("zone", max_skew=0),
        "Pod default/x: spec.topologySpreadConstraints[0].maxSkew: must be greater than 0",
    ),
    ("a field is no list", lambda: odd(tolerations="all"), "Pod default/x: spec.tolerations: must be a list"),
    (
        "a pod is there zero times",
        lambda: ks.pod("x").times(0),
        "times: must be a whole number, 1 or more, not 0",
    ),
    ("a pod is there minus one times", lambda: ks.pod("x").times(-1), "times: must be a whole number"),
    ("an owner has no kind", lambda: ks.pod("x").owned("web"), "owner: must be KIND/NAME"),
    ("a number is no object", lambda: 1, "1 is not an object of a cluster"),
    ("a text is no object", lambda: "node", "'node' is not an object of a cluster"),
    ("a raw manifest is no object", lambda: {"kind": "Pod"}, "{'kind': 'Pod'} is not an object of a cluster"),
    ("None in a list is no object", lambda: [ks.node("a"), [None]], "None is not an object of a cluster"),
]


@pytest.mark.parametrize("build, line", [row[1:] for row in CLUSTERS], ids=[row[0] for row in CLUSTERS])
def test_a_cluster_is_refused_when_it_is_made(build, line):
    with pytest.raises(ks.KubestowError, match=re.escape(line)) as raised:
        ks.cluster(build())
    assert "\n" not in str(raised.value)


CALLS = [
    (
        "a configuration has a wrong type",
        lambda: ks.cluster(ks.node("a"), configuration={"profiles": 3}),
        "KubeSchedulerConfiguration: profiles: must be a list",
    ),
    (
        "a configuration is of another kind",
        lambda: ks.cluster(configuration={"kind": "Pod"}),
        "configuration: kind: must be KubeSchedulerConfiguration, not 'Pod'",
    ),
    ("a drain of no node", lambda: ks.drain("guard-service", []), "nodes: must name one at least"),
    ("a configuration is a list", lambda: ks.cluster(configuration=[1]), "configuration: must be a map"),
    ("a release is a number", lambda: ks.cluster(kube_version=1.36), "kube_version: must be text"),
    (
        "a seed is negative",
        lambda: ks.generate("packing", -1),
        "seed: must be a whole number, 0 or more, not -1",
    ),
    (
        "a seed is broken",
        lambda: ks.generate("packing", 1.5),
        "seed: must be a whole number, 0 or more, not 1.5",
    ),
    ("a family is a number", lambda: ks.generate(3), "family: must be text (in quotes), not 3"),
    ("a number is no pod to copy", lambda: ks.fit(ROUND, 3), "3 is no pod"),
    ("a pod to copy is refused", lambda: ks.fit(ROUND, ks.pod("A_b")), "Pod default/A_b: metadata.name"),
    ("a limit of copies is a word", lambda: ks.fit(ROUND, "p", most="x"), "most: must be a whole number"),
    (
        "a scheduler is not known",
        lambda: ks.simulate("stockout-falls-back", scheduler="z"),
        "scheduler: must be one of greedy, optimal, both, not 'z'",
    ),
    ("gates are a number", lambda: ks.cluster(feature_gates=3), "feature_gates: must be text"),
    (
        "gates of a file are a list",
        lambda: ks.load("guard-service", feature_gates=[]),
        "feature_gates: must be",
    ),
    ("a pod to explain is a number", lambda: ks.explain(ROUND, 3), "pod: must be text"),
    ("a pod that waits is a number", lambda: ks.why(ROUND, 3), "name: must be text"),
    ("a pod to help is a number", lambda: ks.suggest(ROUND, 3), "name: must be text"),
    ("alternatives are a word", lambda: ks.suggest(ROUND, alternatives="x"), "alternatives: must be a whole"),
    ("nodes to drain are one text", lambda: ks.drain(ROUND, "ab"), "nodes: must be a list, not 'ab'"),
    ("a node to drain is a number", lambda: ks.drain(ROUND, [3]), "nodes: must be text (in quotes), not 3"),
    ("a drain rolls by a word", lambda: ks.drain(ROUND, ["a"], rolling="x"), "rolling: must be a whole"),
    ("a goal is not known", lambda: ks.rebalance(ROUND, "foo"), "goal: must be one of admit, free-nodes"),
    ("moves are a word", lambda: ks.rebalance(ROUND, "admit", max_moves="x"), "max_moves: must be a whole"),
    ("a scenario is a number", lambda: ks.what_if(ROUND, 3), "3 is no scenario"),
    ("node groups are one text", lambda: ks.provision(ROUND, "three-sizes"), "node_groups: must be a list"),
    (
        "node groups to compare with are one text",
        lambda: ks.consolidate(ROUND, "three-sizes"),
        "node_groups: must be a list",
    ),
    (
        "a price is a word",
        lambda: ks.provision(ROUND, ["three-sizes"], max_price="x"),
        "max_price: must be a number, not 'x'",
    ),
    ("a study is of a number", lambda: ks.Study(5), "instances: must be a list"),
    ("a study is of one text", lambda: ks.Study("shop.yaml"), "instances: must be a list"),
]


@pytest.mark.parametrize("call, line", [row[1:] for row in CALLS], ids=[row[0] for row in CALLS])
def test_a_call_is_refused(call, line):
    with pytest.raises(ks.KubestowError, match=re.escape(line)) as raised:
        call()
    assert "\n" not in str(raised.value)


ASKS = {
    "solve": lambda **search: ks.solve(ROUND, **search),
    "compare": lambda **search: ks.compare(ROUND, **search),
    "why": lambda **search: ks.why(ROUND, "p", **search),
    "fit": lambda **search: ks.fit(ROUND, "p", **search),
    "suggest": lambda **search: ks.suggest(ROUND, **search),
    "what_if": lambda **search: ks.what_if(ROUND, **search),
    "drain": lambda **search: ks.drain(ROUND, ["a"], **search),
    "rebalance": lambda **search: ks.rebalance(ROUND, "admit", **search),
    "provision": lambda **search: ks.provision(ROUND, ["three-sizes"], **search),
    "consolidate": lambda **search: ks.consolidate(ROUND, ["three-sizes"], **search),
    "Study": lambda **search: ks.Study([ROUND], **search),
}


@pytest.mark.parametrize("ask", ASKS)
def test_an_option_that_is_none_is_told_with_those_that_are(ask):
    with pytest.raises(ks.KubestowError, match=r"^foo: is no option of the search; there are time_limit,"):
        ASKS[ask](foo=1)


OPTIONS = [
    ("seconds are a word", {"time_limit": "x"}, "time_limit: must be a number of seconds, not 'x'"),
    ("seconds are negative", {"time_limit": -1}, "-1 is not a positive number of seconds"),
    ("workers are a fraction", {"workers": 1.5}, "workers: must be a whole number, not 1.5"),
    ("workers are true", {"workers": True}, "workers: must be a whole number, not True"),
    ("a seed is a word", {"seed": "x"}, "seed: must be a whole number, not 'x'"),
    ("a preference is a number", {"prefer": 1}, "prefer: must be text, not 1"),
    ("an engine is None", {"engine": None}, "engine: must be text, not None"),
    ("a Dask scheduler is a number", {"dask": 1}, "dask: must be an address or None, not 1"),
    ("tiers are a word", {"tiers": "all"}, "tiers: must be a whole number or None, not 'all'"),
    ("limits are a number", {"limits": 1}, "limits: must be EvictionLimits, not 1"),
]


@pytest.mark.parametrize("search, line", [row[1:] for row in OPTIONS], ids=[row[0] for row in OPTIONS])
def test_an_option_of_the_wrong_type_is_refused(search, line):
    with pytest.raises(ks.KubestowError, match=re.escape(line)):
        ks.solve(ROUND, **search)


def test_every_option_of_the_search_has_its_type():
    from dataclasses import fields

    from kubestow.api.search import TYPES
    from kubestow.solver.options import SolveOptions

    assert list(TYPES) == [field.name for field in fields(SolveOptions)]


def test_the_same_name_in_two_namespaces_or_of_two_kinds_is_right():
    made = ks.cluster(ks.node("x"), ks.pod("x"), ks.pod("x", namespace="shop"))
    assert len(made.snapshot.pods) == 2


def test_a_limit_without_a_request_is_one_as_an_api_server_has_it():
    def limit(manifest):
        manifest["spec"]["containers"][0]["resources"] = {"limits": {"cpu": "3"}}

    made = ks.cluster(ks.node("a", cpu="2"), ks.pod("p").changed(limit))
    assert ks.greedy(made).placed == {}


def test_a_study_is_told_in_a_line():
    study = ks.Study(["a", "b"], time_limit=5, workers=1)
    assert repr(study) == "Study of 2 instances: 5 s each, 1 worker, seed 0, prefer none"
