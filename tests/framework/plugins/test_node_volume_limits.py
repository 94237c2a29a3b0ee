import pytest
from support.builders import node, pod
from support.filtering import Look, pass_over
from support.storage import MAKE, attachment, bound, claim, csi_driver, csi_node, volume

FULL = "U NodeVolumeLimits: node(s) exceed max volume count"
EBS = "kubernetes.io/aws-ebs"


def ebs_volume(name, volume_id):
    """A claim with the in-tree EBS volume that it is bound to."""
    return (
        claim(name, storage="", to=name),
        volume(
            name,
            storage="",
            to=f"default/{name}",
            phase="Bound",
            awsElasticBlockStore={"volumeID": volume_id},
        ),
    )


@pytest.mark.parametrize(
    "objects, rejected",
    [
        pytest.param([csi_node("a", volumes=1), bound("x"), pod("p").claim("x")], {}, id="up to the limit"),
        pytest.param(
            [csi_node("a", volumes=0), bound("x"), pod("p").claim("x")], {"a": FULL}, id="beyond the limit"
        ),
        pytest.param([bound("x"), pod("p").claim("x")], {}, id="without a CSINode there is no limit"),
        pytest.param(
            [csi_node("a", volumes=None), bound("x"), pod("p").claim("x")], {}, id="nor without a count"
        ),
        pytest.param(
            [csi_node("a", other=0), bound("x"), pod("p").claim("x")], {}, id="another driver's limit"
        ),
        pytest.param([csi_node("a", volumes=0), pod("p").disk("d")], {}, id="a pod that brings nothing"),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), bound("y"), pod("p").claim("x", "y")],
            {"a": FULL},
            id="all that a pod brings counts",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), pod("p").claim("x", "x")],
            {},
            id="a volume used twice is one",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), pod("p").claim("x"), pod("v").claim("x").on("a")],
            {},
            id="a volume that a pod there uses is attached already",
        ),
        pytest.param(
            [
                csi_node("a", volumes=0),
                bound("x"),
                bound("y"),
                pod("p").claim("x"),
                pod("v").claim("x", "y").on("a"),
            ],
            {},
            id="a node beyond its limit takes who brings nothing new",
        ),
        pytest.param(
            [
                csi_node("a", volumes=1),
                bound("x"),
                bound("y"),
                pod("p").claim("x"),
                pod("v").claim("y").on("a").terminating(),
            ],
            {"a": FULL},
            id="a terminating pod's volume is attached",
        ),
        pytest.param(
            [csi_node("a", volumes=0), MAKE, claim("x", storage="make"), pod("p").claim("x")],
            {"a": FULL},
            id="an unbound claim counts for its class's provisioner",
        ),
        pytest.param(
            [
                csi_node("a", volumes=1),
                MAKE,
                claim("x", storage="make"),
                pod("p").claim("x"),
                pod("v").claim("x").on("a"),
            ],
            {},
            id="under its own name, once",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), bound("y"), pod("p").claim("x"), attachment("a", "y")],
            {"a": FULL},
            id="an attachment counts without a pod",
        ),
        pytest.param(
            [
                csi_node("a", volumes=2),
                bound("x"),
                bound("y"),
                pod("p").claim("x"),
                pod("v").claim("y").on("a"),
                attachment("a", "y"),
            ],
            {},
            id="an attachment of a pod's volume counts once",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), pod("p").claim("x"), attachment("a", "x")],
            {"a": FULL},
            id="the attachment of a volume that comes counts on both sides",
        ),
        pytest.param(
            [
                csi_node("a", volumes=1),
                bound("x"),
                bound("y"),
                pod("p").claim("x"),
                attachment("elsewhere", "y"),
            ],
            {},
            id="an attachment elsewhere does not count",
        ),
        pytest.param(
            [
                csi_node("a", volumes=0),
                MAKE,
                claim("p-data", storage="make", owner=""),
                pod("p").ephemeral("data"),
            ],
            {"a": FULL},
            id="the claim of an ephemeral volume counts",
        ),
        pytest.param(
            [csi_node("a", **{"ebs.csi.aws.com": 0}), ebs_volume("x", "vol-1"), pod("p").claim("x")],
            {"a": FULL},
            id="an in-tree volume counts for the driver that took over",
        ),
        pytest.param(
            [
                csi_node("a", **{"ebs.csi.aws.com": 1}),
                ebs_volume("x", "aws://eu/vol-1"),
                pod("p").claim("x"),
                pod("v").volume(awsElasticBlockStore={"volumeID": "vol-1"}).on("b"),
                pod("w").volume(awsElasticBlockStore={"volumeID": "vol-1"}).on("a"),
            ],
            {},
            id="named in a pod or by a volume, in either spelling, it is the same",
        ),
        pytest.param(
            [
                csi_node("a", **{"csi.vsphere.vmware.com": 0}),
                pod("p").volume(vsphereVolume={"volumePath": "x"}),
            ],
            {},
            id="some in-tree plugins are not counted",
        ),
    ],
)
def test_filter(objects, rejected):
    assert Look(node("a"), node("b"), objects).rejected == rejected


@pytest.mark.parametrize(
    "migrated, rejected",
    [
        pytest.param((), {}, id="no"),
        pytest.param(("kubernetes.io/portworx-volume",), {"a": FULL}, id="yes"),
    ],
)
def test_portworx_counts_where_the_node_announces_it(migrated, rejected):
    limits = csi_node("a", migrated=migrated, **{"pxd.portworx.com": 0})
    p = pod("p").volume(portworxVolume={"volumeID": "x"})
    assert Look(node("a"), limits, p).rejected == rejected


def test_preemption_detaches_what_only_victims_use():
    cycles = pass_over(
        node("a"),
        csi_node("a", volumes=2),
        [bound(name) for name in ("x", "y", "z")],
        pod("v").claim("x").on("a").started(3),
        pod("w").claim("x").on("a").started(2),
        pod("u").claim("y").on("a").started(1),
        pod("p").claim("z").priority(10),
    )
    # v stays, and w beside it costs nothing more
    assert cycles["p"]["victims"] == ["default/u"]


def test_a_nominated_pod_holds_its_attachment():
    cycles = pass_over(
        node("a", cpu="2"),
        csi_node("a", volumes=1),
        bound("x"),
        bound("y"),
        pod("v").req(cpu="2").on("a"),
        pod("p").claim("x").req(cpu="1").priority(20),
        pod("q").claim("y").priority(10),
    )
    assert cycles["p"]["result"] == "nominated"
    assert cycles["q"]["filter"]["a"]["plugin"] == "NodeVolumeLimits"


ABSENT = "U NodeVolumeLimits: csi.test CSI driver is not installed on the node"
REQUIRED = csi_driver(required=True)


@pytest.mark.parametrize(
    "objects, rejected",
    [
        pytest.param([REQUIRED, bound("x")], {"a": ABSENT}, id="a node without a CSINode"),
        pytest.param([REQUIRED, csi_node("a", other=1), bound("x")], {"a": ABSENT}, id="or the driver"),
        pytest.param([REQUIRED, csi_node("a", volumes=None), bound("x")], {}, id="the driver, no limit"),
        pytest.param([REQUIRED, csi_node("a", volumes=0), bound("x")], {"a": FULL}, id="and a full node"),
        pytest.param([csi_driver(), bound("x")], {}, id="a driver that does not ask for it"),
        pytest.param(
            [REQUIRED, MAKE, claim("x", storage="make")], {"a": ABSENT}, id="a volume that is yet to be made"
        ),
        pytest.param(
            [REQUIRED, bound("x"), pod("v").claim("x").on("a")],
            {"a": ABSENT},
            id="a volume that a pod there uses needs the driver, too",
        ),
    ],
)
def test_a_driver_that_must_be_installed(objects, rejected):
    p = pod("p").claim("x")
    assert Look(node("a"), *objects, p).rejected == rejected
    kept = {name: text for name, text in rejected.items() if text == FULL}
    assert Look(node("a"), *objects, p, gates="VolumeLimitScaling=false").rejected == kept
    assert Look(node("a"), *objects, p, release="1.34").rejected == kept
