import pytest
from builders import cluster, node, pod

from kubestow.framework.cluster import Cluster
from kubestow.framework.supported import require_supported, unsupported
from kubestow.framework.trace import trace
from kubestow.models.errors import KubestowError
from kubestow.models.resource_api import DeviceClass


def spec(**fields):
    return pod("p").changed(lambda d: d["spec"].update(fields))


GROUPED = spec(schedulingGroup={"podGroupName": "g"})
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
        pytest.param(GROUPED, "", "PodGroup g", id="a pod group"),
        pytest.param(GROUPED, "GenericWorkload=false", "", id="unless groups are switched off"),
        pytest.param(spec(workloadRef={"name": "w", "podGroup": "g"}), "", "Workload w", id="a workload"),
        pytest.param(DEVICE, "", "resourceClaims[gpu]", id="a resource claim"),
        pytest.param(DEVICE, "DynamicResourceAllocation=false", "", id="unless devices are switched off"),
    ],
)
def test_needs(p, gates, need):
    needs = unsupported(Cluster(cluster(node("a"), p, gates=gates)))
    assert len(needs) == bool(need)
    assert all("Pod default/p" in text and need in text for text in needs)


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
    snapshot = cluster(node("a"), GROUPED, DEVICE.named("q"), name="dump")
    with pytest.raises(KubestowError, match=r"^dump: Pod default/p: .* \(and 1 more\)$"):
        require_supported(Cluster(snapshot))
    with pytest.raises(KubestowError, match=r"^dump: Pod default/p: .*PodGroup"):
        trace(snapshot)
    require_supported(Cluster(cluster(node("a"), pod("p"))))
