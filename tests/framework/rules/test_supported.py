import pytest
from support.builders import cluster, node, pod
from support.devices import claim, device_class, request, user
from support.filtering import profile

from kubestow.framework.build import build_cluster
from kubestow.framework.rules.supported import require_supported, unsupported
from kubestow.framework.runs.trace import trace
from kubestow.models.errors import KubestowError


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


NEVER_RESERVED = profile(reserve={"disabled": [{"name": "DynamicResources"}]})


def test_devices_that_a_profile_chooses_and_never_writes_down_are_refused():
    objects = (node("a"), device_class(), claim("c", request("r")), user("p", "c"))
    snapshot = cluster(*objects, name="dump", configuration=NEVER_RESERVED)
    need = (
        "KubeSchedulerConfiguration: profile default-scheduler: plugins.reserve: DynamicResources is off here"
    )
    [text] = unsupported(build_cluster(snapshot))
    assert text.startswith(need)
    with pytest.raises(KubestowError, match=rf"^dump: {need}"):
        trace(snapshot)
    require_supported(build_cluster(cluster(node("a"), pod("p"), configuration=NEVER_RESERVED)))
