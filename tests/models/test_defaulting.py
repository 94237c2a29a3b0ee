import pytest

from kubestow.models.defaulting import default_pod
from kubestow.models.pod import Pod


def pod(spec, **meta):
    return Pod.model_validate({"metadata": {"name": "p", **meta}, "spec": spec})


def container(requests=None, limits=None, **fields):
    return {"name": "a", "resources": {"requests": requests or {}, "limits": limits or {}}, **fields}


def requests_of(spec):
    made = default_pod(pod(spec)).spec
    return [item.resources.requests for item in (*made.init_containers, *made.containers)]


def test_a_limit_without_a_request_becomes_the_request():
    spec = {
        "containers": [container({"cpu": "1"}, {"cpu": "2", "memory": "3"})],
        "initContainers": [container(limits={"cpu": "4"})],
    }
    assert requests_of(spec) == [{"cpu": 4}, {"cpu": 1, "memory": 3}]


POD_LEVEL = [
    ("without limits nothing is filled in", {"requests": {"cpu": "1"}}, {"cpu": 1}),
    ("the containers' sum comes first", {"limits": {"cpu": "9"}}, {"cpu": 3}),
    ("else the limit", {"limits": {"memory": "9"}}, {"cpu": 3, "memory": 9}),
    ("what is requested stays", {"requests": {"cpu": "5"}, "limits": {"cpu": "9"}}, {"cpu": 5}),
]


@pytest.mark.parametrize(
    "resources, expected", [row[1:] for row in POD_LEVEL], ids=[row[0] for row in POD_LEVEL]
)
def test_pod_level_requests(resources, expected):
    two = [container({"cpu": "1"}), {**container(limits={"cpu": "2"}), "name": "b"}]
    made = default_pod(pod({"containers": two, "resources": resources}))
    assert made.spec.resources.requests == expected


def test_ports_of_a_pod_in_the_nodes_network_are_ports_of_the_node():
    ports = [{"containerPort": 80}, {"containerPort": 81, "hostPort": 8081}]
    spec = {"containers": [container(ports=ports)], "hostNetwork": True}
    (made,) = default_pod(pod(spec)).spec.containers
    assert [port.host_port for port in made.ports] == [80, 8081]
    (made,) = default_pod(pod({**spec, "hostNetwork": False})).spec.containers
    assert [port.host_port for port in made.ports] == [0, 8081]


def anti_affinity(**term):
    whole = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "web"}}, **term}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": [whole]}
    return {"containers": [container()], "affinity": {"podAntiAffinity": required}}


def selector_of(made):
    return made.spec.affinity.pod_anti_affinity.required[0].label_selector


LABELS = {"app": "web", "rev": "2"}


def test_label_keys_of_affinity_terms_are_merged_into_the_selector():
    spec = anti_affinity(matchLabelKeys=["rev", "missing"])
    selector = selector_of(default_pod(pod(spec, labels=LABELS)))
    assert selector.matches(LABELS)
    assert not selector.matches({"app": "web", "rev": "1"})
    spec = anti_affinity(mismatchLabelKeys=["rev"])
    selector = selector_of(default_pod(pod(spec, labels=LABELS)))
    assert not selector.matches(LABELS)
    assert selector.matches({"app": "web", "rev": "1"})


def test_preferred_terms_are_merged_too():
    term = {"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["rev"]}
    preferred = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    spec = {"containers": [container()], "affinity": {"podAffinity": preferred}}
    (item,) = default_pod(pod(spec, labels=LABELS)).spec.affinity.pod_affinity.preferred
    assert item.pod_affinity_term.label_selector.matches({"rev": "2"})
    assert not item.pod_affinity_term.label_selector.matches({"rev": "1"})


def test_merging_twice_changes_nothing():
    once = default_pod(pod(anti_affinity(matchLabelKeys=["rev"]), labels=LABELS))
    assert default_pod(once) is once


def test_a_stored_pod_keeps_its_selectors():
    stored = pod(anti_affinity(matchLabelKeys=["rev"]), labels=LABELS, uid="u")
    assert default_pod(stored) is stored


def test_a_pod_that_lacks_nothing_stays_the_same_object():
    whole = pod({"containers": [container({"cpu": "1"}, {"cpu": "1"})], "affinity": {"nodeAffinity": {}}})
    assert default_pod(whole) is whole
