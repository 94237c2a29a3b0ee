import pytest
from support.builders import node, pod
from support.filtering import Look

TAKEN = {"a": "U NodePorts: node(s) didn't have free ports for the requested pod ports"}


def with_init(builder, *, restart):
    port = {"containerPort": 80, "hostPort": 80, "protocol": "TCP"}
    init = {"name": "init", "ports": [port]} | ({"restartPolicy": "Always"} if restart else {})
    return builder.changed(lambda d: d["spec"].update(initContainers=[init]))


@pytest.mark.parametrize(
    "holder, p, rejected",
    [
        pytest.param(pod("v").host_port(80), pod("p").host_port(80), TAKEN, id="a port is taken once"),
        pytest.param(pod("v").host_port(80), pod("p"), {}, id="a pod without host ports is not concerned"),
        pytest.param(pod("v").host_port(80), pod("p").host_port(81), {}, id="another port is free"),
        pytest.param(
            pod("v").host_port(53, protocol="UDP"), pod("p").host_port(53), {}, id="another protocol is free"
        ),
        pytest.param(
            pod("v").host_port(80, ip="10.0.0.1"),
            pod("p").host_port(80, ip="10.0.0.2"),
            {},
            id="another address is free",
        ),
        pytest.param(
            pod("v").host_port(80, ip="10.0.0.1"),
            pod("p").host_port(80),
            TAKEN,
            id="all addresses are in conflict with one of them",
        ),
        pytest.param(
            pod("v").host_port(80),
            pod("p").host_port(80, ip="10.0.0.1"),
            TAKEN,
            id="one address is in conflict with all of them",
        ),
        pytest.param(
            with_init(pod("v"), restart=True), pod("p").host_port(80), TAKEN, id="a sidecar holds its port"
        ),
        pytest.param(
            with_init(pod("v"), restart=False),
            pod("p").host_port(80),
            {},
            id="a plain init container holds none",
        ),
        pytest.param(
            pod("v").host_port(80).terminating(),
            pod("p").host_port(80),
            TAKEN,
            id="a terminating pod still holds it",
        ),
    ],
)
def test_filter(holder, p, rejected):
    assert Look(node("a"), node("b"), holder.on("a"), p).rejected == rejected


def test_without_the_gate_a_sidecar_is_an_init_container():
    holder = with_init(pod("v"), restart=True).on("a")
    assert Look(node("a"), holder, pod("p").host_port(80), gates="SidecarContainers=false").rejected == {}
