import pytest
from builders import cluster, group, node, pod

from kubestow.framework.cluster import Cluster
from kubestow.framework.supported import require_supported, unsupported
from kubestow.framework.trace import trace
from kubestow.models.errors import KubestowError
from kubestow.models.resource_api import DeviceClass
from kubestow.models.scheduling import CompositePodGroup


def spec(**fields):
    return pod("p").changed(lambda d: d["spec"].update(fields))


DEVICE = spec(resourceClaims=[{"name": "gpu", "resourceClaimName": "c"}])


@pytest.mark.parametrize(
    "p, gates, need",
    [
        pytest.param(pod("p"), "", "", id="a plain pod needs nothing"),
        pytest.param(
            spec(volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]),
            "",
            "",
            id="volumes are built",
        ),
        pytest.param(DEVICE.on("a"), "", "", id="a pod that runs may have what it has"),
        pytest.param(pod("p").member("g"), "", "", id="pod groups are built"),
        pytest.param(pod("p").replica("w", "g"), "", "", id="so are groups of workloads"),
        pytest.param(DEVICE, "", "resourceClaims[gpu]", id="a resource claim"),
        pytest.param(DEVICE, "DynamicResourceAllocation=false", "", id="unless devices are switched off"),
    ],
)
def test_needs(p, gates, need):
    needs = unsupported(Cluster(cluster(node("a"), p, gates=gates)))
    assert len(needs) == bool(need)
    assert all("Pod default/p" in text and need in text for text in needs)


WHOLE = group("g", gang=1, version="v1beta1", disruptionMode={"all": {}})
PART = group("g", gang=1, version="v1alpha3", parentCompositePodGroupName="c")
COMPOSITE = CompositePodGroup.model_validate(
    {
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"schedulingPolicy": {"gang": {"minGroupCount": 1}}, "disruptionMode": "all"},
    }
)
RUNNING = pod("r").member("g").priority(1).on("a")
URGENT = pod("u").priority(5)


@pytest.mark.parametrize(
    "objects, need",
    [
        pytest.param((WHOLE, RUNNING, URGENT), "spec.disruptionMode all", id="evicted whole, and in danger"),
        pytest.param((WHOLE, RUNNING, URGENT.never()), "", id="evicted whole, but nobody preempts"),
        pytest.param((WHOLE, RUNNING.priority(5), URGENT), "", id="evicted whole, but as important"),
        pytest.param((WHOLE, pod("p").member("g"), URGENT), "", id="evicted whole, but nobody runs"),
        pytest.param((PART, COMPOSITE, pod("p").member("g")), "CompositePodGroup c", id="a group of groups"),
        pytest.param((PART, COMPOSITE, RUNNING), "", id="a group of groups that runs and is left alone"),
        pytest.param(
            (PART, COMPOSITE, RUNNING, URGENT), "disruptionMode all of CompositePodGroup c", id="and is not"
        ),
    ],
)
def test_needs_of_groups(objects, need):
    needs = unsupported(Cluster(cluster(node("a"), *objects)))
    assert len(needs) == bool(need)
    assert all("PodGroup default/g" in text and need in text for text in needs)
    assert unsupported(Cluster(cluster(node("a"), *objects, gates="GenericWorkload=false"))) == []


def test_devices_are_only_in_the_way_of_solving():
    assert unsupported(Cluster(cluster(node("a"), DEVICE)), solving=False) == []


def test_an_extended_resource_served_by_a_device_class():
    served = DeviceClass.model_validate(
        {"metadata": {"name": "gpu"}, "spec": {"extendedResourceName": "example.com/gpu"}}
    )
    plain = cluster(node("a"), pod("p").req({"example.com/gpu": "1"}))
    with_class = type(plain)(**{**vars(plain), "device_classes": (served,)})
    assert unsupported(Cluster(plain)) == []
    assert "DeviceClass gpu" in unsupported(Cluster(with_class))[0]


def test_an_instance_is_refused_by_its_first_need():
    snapshot = cluster(node("a"), DEVICE, PART, COMPOSITE, pod("q").member("g"), name="dump")
    with pytest.raises(KubestowError, match=r"^dump: Pod default/p: .* \(and 1 more\)$"):
        require_supported(Cluster(snapshot))
    with pytest.raises(KubestowError, match=r"^dump: PodGroup default/g: .*CompositePodGroup"):
        trace(snapshot)
    require_supported(Cluster(cluster(node("a"), pod("p"))))
