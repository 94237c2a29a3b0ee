"""Which claims a pod has, and why it may have to wait for them."""

import pytest
from support.builders import cluster, group, node, pod
from support.devices import claim, device_class, gpu, request, slice_on, user
from support.filtering import Look, written

from kubestow.framework.dra.index import device_index
from kubestow.framework.index.cluster import Cluster
from kubestow.framework.plugins.dynamic_resources import DynamicResources
from kubestow.models.config import PluginArgs


def waits(*objects):
    """PreEnqueue and PreFilter say the same."""
    look = Look(node("a"), device_class(), slice_on("a", gpu("g0")), *objects)
    status = DynamicResources(look.cluster, PluginArgs()).pre_enqueue(look.pod)
    text = "" if status is None else written(status)
    refusal = look.framework.filter_all(look.state, look.pod).pre_filter
    assert text == ("" if refusal is None else written(refusal))
    return text.removeprefix("UAU DynamicResources: ")


@pytest.mark.parametrize(
    "objects, text",
    [
        pytest.param([pod("p")], "", id="a pod without claims"),
        pytest.param([user("p", "c"), claim("c")], "", id="a claim that is there"),
        pytest.param([user("p", "c")], 'could not find ResourceClaim "default/c"', id="a claim that is not"),
        pytest.param(
            [user("p", "c"), claim("c", deletionTimestamp="2026-03-01T11:00:00Z")],
            'resourceclaim "c" is being deleted',
            id="a claim that is being deleted",
        ),
        pytest.param(
            [user("p", made=[("e",)])],
            'pod "default/p": ResourceClaim not created yet',
            id="a template of which nothing was made yet",
        ),
        pytest.param([user("p", made=[("e", None)])], "", id="a template of which nothing is needed"),
        pytest.param(
            [user("p", made=[("e", "p-e-x")]), claim("p-e-x", owner="p")], "", id="the pod's own claim"
        ),
        pytest.param(
            [user("p", made=[("e", "p-e-x")]), claim("p-e-x", owner="q")],
            "ResourceClaim default/p-e-x was not created for pod default/p (pod is not owner)",
            id="another pod's claim",
        ),
        pytest.param(
            [user("p", made=[("e", "p-e-x")]), claim("p-e-x")],
            "ResourceClaim default/p-e-x was not created for pod default/p (pod is not owner)",
            id="nobody's claim",
        ),
        pytest.param(
            [user("p").changed(lambda d: d["spec"].update(resourceClaims=[{"name": "e"}]))],
            "pod default/p, spec.resourceClaim e: none of the supported fields are set",
            id="an entry that names nothing",
        ),
    ],
)
def test_waiting(objects, text):
    assert waits(*objects) == text


def test_an_owner_is_known_by_its_uid():
    def with_uid(builder):
        return builder.changed(lambda d: d["metadata"].update(uid="1"))

    owned = claim("p-e-x", owner="p")
    (reference,) = owned.metadata.owner_references
    other = reference.model_copy(update={"uid": "2"})
    meta = owned.metadata.model_copy(update={"owner_references": (other,)})
    stale = owned.model_copy(update={"metadata": meta})
    p = with_uid(user("p", made=[("e", "p-e-x")]))
    assert "pod is not owner" in waits(p, stale)


def grouped(name, **entry):
    def change(doc):
        doc["spec"]["resourceClaims"] = [{"name": "e", **entry}]
        doc["spec"]["schedulingGroup"] = {"podGroupName": "g"}

    return pod(name).changed(change)


MADE = {"resourceClaimStatuses": [{"name": "e", "resourceClaimName": "g-e-x"}]}


@pytest.mark.parametrize(
    "gates, entry, found",
    [
        pytest.param("", {"resourceClaimTemplateName": "t"}, "default/g-e-x", id="the group's claim"),
        pytest.param("", {"resourceClaimTemplateName": "u"}, None, id="another source is the pod's own"),
        pytest.param(
            "DRAWorkloadResourceClaims=false",
            {"resourceClaimTemplateName": "t"},
            None,
            id="without the gate too",
        ),
    ],
)
def test_the_claims_of_a_pod_group(gates, entry, found):
    owner = group("g", resourceClaims=[{"name": "e", "resourceClaimTemplateName": "t"}])
    owner = owner.model_copy(update={"status": type(owner.status).model_validate(MADE)})
    snapshot = cluster(node("a"), grouped("p", **entry), owner, claim("g-e-x"), gates=gates)
    index = device_index(Cluster(snapshot))
    if found is None:
        with pytest.raises(Exception, match="not created yet"):
            index.claims_of(0)
    else:
        (claimed,) = index.claims_of(0)
        assert claimed == (found, "default/g")
        assert index.consumers_of(0, ()) == [(found, "podgroups default/g")]


def test_a_claim_that_is_listed_twice_is_one():
    snapshot = cluster(node("a"), user("p", "d", "c", "d"), claim("c"), claim("d"))
    index = device_index(Cluster(snapshot))
    assert [item.key for item in index.claims_of(0)] == ["default/d", "default/c"]


def test_selectors_are_compiled_only_for_pods_that_wait():
    broken = claim("c", request("r", "1 +"), at="a", has=[("r", "a", "g0")], users=["q"])
    assert waits(pod("p"), user("q", "c").on("a"), broken) == ""
