import pytest
from support.builders import cluster, group, node, pod

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.supported import require_supported, unsupported
from kubestow.framework.runs.trace import trace
from kubestow.models.errors import KubestowError
from kubestow.models.scheduling import CompositePodGroup


def spec(**fields):
    return pod("p").changed(lambda d: d["spec"].update(fields))


DEVICE = spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])


@pytest.mark.parametrize(
    "p",
    [
        pytest.param(pod("p"), id="a plain pod"),
        pytest.param(
            spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]),
            id="volumes are built",
        ),
        pytest.param(pod("p").member("g"), id="pod groups are built"),
        pytest.param(pod("p").replica("w", "g"), id="so are groups of workloads"),
        pytest.param(DEVICE, id="devices are built"),
    ],
)
def test_pods_need_nothing(p):
    assert unsupported(build_cluster(cluster(node("a"), p))) == []


WHOLE = group("g", gang=1, version="v1beta1", disruptionMode={"all": {}})
PART = group("g", gang=1, version="v1alpha3", parentCompositePodGroupName="c")


def composite(name, parent=None, mode="single"):
    return CompositePodGroup.model_validate(
        {
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "schedulingPolicy": {"gang": {"minGroupCount": 1}},
                "disruptionMode": mode,
                "parentCompositePodGroupName": parent,
            },
        }
    )


COMPOSITE = composite("c", mode="all")
RUNNING = pod("r").member("g").priority(1).on("a")
URGENT = pod("u").priority(5)


@pytest.mark.parametrize(
    "objects, need",
    [
        pytest.param((WHOLE, RUNNING, URGENT), "", id="a group that is evicted whole"),
        pytest.param((PART, COMPOSITE, pod("p").member("g")), "CompositePodGroup c", id="a group of groups"),
        pytest.param((PART, COMPOSITE, RUNNING), "", id="a group of groups that runs and is left alone"),
        pytest.param(
            (PART, COMPOSITE, RUNNING, URGENT), "disruptionMode all of CompositePodGroup c", id="and is not"
        ),
        pytest.param(
            (PART, composite("c", "top"), composite("top", mode="all"), RUNNING, URGENT),
            "disruptionMode all of CompositePodGroup top",
            id="nor is one whose group's group is evicted whole",
        ),
        pytest.param(
            (PART, composite("c", "top"), composite("top", "c"), RUNNING, URGENT), "", id="groups in a circle"
        ),
    ],
)
def test_needs_of_groups(objects, need):
    needs = unsupported(build_cluster(cluster(node("a"), *objects)))
    assert len(needs) == bool(need)
    assert all("PodGroup default/g" in text and need in text for text in needs)
    assert unsupported(build_cluster(cluster(node("a"), *objects, gates="GenericWorkload=false"))) == []


def test_an_instance_is_refused_by_its_first_need():
    more = group("h", gang=1, version="v1alpha3", parentCompositePodGroupName="c")
    members = pod("p").member("g"), pod("q").member("h")
    snapshot = cluster(node("a"), PART, more, COMPOSITE, *members, name="dump")
    with pytest.raises(KubestowError, match=r"^dump: PodGroup default/g: .* \(and 1 more\)$"):
        trace(snapshot)
    require_supported(build_cluster(cluster(node("a"), pod("p"))))
