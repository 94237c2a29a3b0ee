import pytest
from support.builders import node, pod
from support.filtering import Look, pass_over
from support.storage import MAKE, NOW, WAIT, bound, claim, csi_driver, csi_node, free, storage_class, volume

from kubestow.models.storage import PersistentVolume

UAU = "UAU VolumeBinding: "
FAR = UAU + "node(s) didn't match PersistentVolume's node affinity"
NONE = UAU + "node(s) didn't find available persistent volumes to bind"
FULL = UAU + "node(s) did not have enough free storage"
GONE = UAU + "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
NODES = (node("a", zone="z1"), node("b", zone="z2"))


def everywhere(text):
    return {"a": text, "b": text}


def rejected(*objects):
    return Look(NODES, WAIT, MAKE, NOW, objects).rejected


@pytest.mark.parametrize(
    "objects, text",
    [
        pytest.param(
            [pod("p").ephemeral("data")],
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-data"',
            id="the claim of an ephemeral volume is not there yet",
        ),
        pytest.param(
            [claim("p-data", owner="somebody"), pod("p").ephemeral("data")],
            "PVC default/p-data was not created for pod default/p (pod is not owner)",
            id="the claim of an ephemeral volume is another pod's",
        ),
        pytest.param(
            [claim("x", to="v", phase="Lost"), pod("p").claim("x")],
            'persistentvolumeclaim "x" bound to non-existent persistentvolume "v"',
            id="a claim lost its volume",
        ),
        pytest.param(
            [claim("x", deleted=True), pod("p").claim("x")],
            'persistentvolumeclaim "x" is being deleted',
            id="a claim goes",
        ),
        pytest.param(
            [claim("x", storage="now"), pod("p").claim("x")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim that is to be bound without a pod is not bound",
        ),
        pytest.param(
            [claim("x", storage=""), pod("p").claim("x")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="so is one without a class",
        ),
        pytest.param(
            [claim("x", storage="unknown"), pod("p").claim("x")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="or of a class that does not exist",
        ),
        pytest.param(
            [claim("x", to="v", complete=False), volume("v"), pod("p").claim("x")],
            "pod has unbound immediate PersistentVolumeClaims",
            id="a claim names a volume, but is not bound to it for good",
        ),
    ],
)
def test_refusals(objects, text):
    assert rejected(objects) == everywhere(UAU + text)


@pytest.mark.parametrize(
    "objects, there",
    [
        pytest.param([bound("x", on="a")], {"b": FAR}, id="the volume is within reach of some nodes"),
        pytest.param([bound("x")], {}, id="or of all"),
        pytest.param([claim("x"), volume("v", on="a")], {"b": NONE}, id="there is a volume for the claim"),
        pytest.param(
            [claim("x", 2), volume("v", 1, on="a"), volume("w", 2, on="b")], {"a": NONE}, id="large enough"
        ),
        pytest.param(
            [claim("x"), volume("v", on="a", phase="Released"), volume("w", on="b", phase=None)],
            {"a": NONE},
            id="available, as is one without a status",
        ),
        pytest.param(
            [claim("x"), volume("v", on="a", deleted=True), volume("w", on="b")],
            {"a": NONE},
            id="there to stay",
        ),
        pytest.param(
            [claim("x"), volume("v", storage="make", on="a"), volume("w", on="b")],
            {"a": NONE},
            id="of its class",
        ),
        pytest.param(
            [
                claim("x", modes=("ReadWriteMany",)),
                volume("v", on="a"),
                volume("w", on="b", modes=("ReadWriteOnce", "ReadWriteMany")),
            ],
            {"a": NONE},
            id="with all its access modes",
        ),
        pytest.param(
            [claim("x", block=True), volume("v", on="a"), volume("w", on="b", block=True)],
            {"a": NONE},
            id="of its mode",
        ),
        pytest.param(
            [
                claim("x", select={"media": "ssd"}),
                volume("v", on="a", labels={"media": "hdd"}),
                volume("w", on="b", labels={"media": "ssd"}),
            ],
            {"a": NONE},
            id="with the labels that it selects",
        ),
        pytest.param(
            [claim("x"), volume("v", on="a", to="default/y"), volume("w", on="b")],
            {"a": NONE},
            id="reserved for nobody else",
        ),
        pytest.param(
            [
                claim("x", modes=("ReadWriteMany",), select={"no": "where"}),
                volume("v", on="a", to="default/x", phase="Released"),
            ],
            {"b": NONE},
            id="one that is reserved for it will do, whatever its labels and modes",
        ),
        pytest.param(
            [claim("x"), volume("v", on="a", to="default/x"), volume("w", on="b")],
            {"b": NONE},
            id="and then no other will",
        ),
        pytest.param(
            [claim("x", 2), volume("v", 1, on="a", to="default/x"), volume("w", 2, on="b")],
            {"a": NONE},
            id="unless it is too small",
        ),
        pytest.param([claim("x", storage="make")], {}, id="a volume is made"),
        pytest.param(
            [storage_class("zoned", zones=["z1"]), claim("x", storage="zoned")],
            {"b": NONE},
            id="a volume is made in the class's zones",
        ),
        pytest.param(
            [
                storage_class("zoned", zones=["z1"]),
                claim("x", storage="zoned"),
                volume("v", storage="zoned", on="b"),
            ],
            {},
            id="or bound elsewhere",
        ),
        pytest.param(
            [claim("x", storage="make", selected="a")], {"b": NONE}, id="a volume is being made for a node"
        ),
        pytest.param(
            [claim("x", storage="make", selected="gone")],
            {"a": NONE, "b": NONE},
            id="a volume is being made for a node that is gone",
        ),
        pytest.param(
            [storage_class("d", default=True), claim("x", storage=None)], {}, id="the default class makes one"
        ),
    ],
)
def test_one_claim(objects, there):
    assert rejected(objects, pod("p").claim("x")) == there


def test_a_volume_that_does_not_exist_is_found_out_by_the_zones_first():
    missing = 'UAU VolumeZone: persistentvolume "gone" not found'
    assert rejected(claim("x", to="gone"), pod("p").claim("x")) == everywhere(missing)
    configuration = {"profiles": [{"plugins": {"multiPoint": {"disabled": [{"name": "VolumeZone"}]}}}]}
    look = Look(NODES, claim("x", to="gone"), pod("p").claim("x"), configuration=configuration)
    assert look.rejected == everywhere(GONE)


@pytest.mark.parametrize(
    "reports, there",
    [
        pytest.param([], {"a": FULL, "b": FULL}, id="without a report there is none"),
        pytest.param([free(1, zone="z1")], {"a": FULL, "b": FULL}, id="too little"),
        pytest.param([free(2, zone="z1")], {"b": FULL}, id="enough in one zone"),
        pytest.param([free(1, zone="z1"), free(2, zone="z1")], {"b": FULL}, id="one report suffices"),
        pytest.param([free(5, largest=1, zone="z1")], {"a": FULL, "b": FULL}, id="no volume may be so large"),
        pytest.param([free(1, largest=2, zone="z1")], {"b": FULL}, id="the largest volume is what counts"),
        pytest.param([free(5)], {"a": FULL, "b": FULL}, id="a report without a topology is for no node"),
        pytest.param([free(5, storage="wait", zone="z1")], {"a": FULL, "b": FULL}, id="of another class"),
    ],
)
def test_free_storage(reports, there):
    objects = [claim("x", 2, "make"), reports, pod("p").claim("x")]
    assert rejected(csi_driver(capacity=True), objects) == there
    assert rejected(csi_driver(capacity=False), objects) == {}


def test_all_that_is_wrong_is_said():
    objects = [bound("x", on="b"), claim("y", 9, "make"), csi_driver(capacity=True)]
    both = FAR + "; node(s) did not have enough free storage"
    assert rejected(objects, pod("p").claim("x", "y")) == {"a": both, "b": FULL}
    assert rejected(bound("x", on="b"), claim("y"), pod("p").claim("x", "y")) == {
        "a": FAR + "; node(s) didn't find available persistent volumes to bind",
        "b": NONE,
    }


@pytest.mark.parametrize(
    "objects, there",
    [
        pytest.param([volume("v", 5, on="a")], {"a": NONE, "b": NONE}, id="two claims need two volumes"),
        pytest.param(
            [volume("v", 2, on="a"), volume("w", 5, on="a")], {"b": NONE}, id="the smaller claim first"
        ),
        pytest.param(
            [volume("v", 2, on="a"), volume("w", 5, on="b")], {"a": NONE, "b": NONE}, id="both on one node"
        ),
    ],
)
def test_two_claims(objects, there):
    claims = [claim("large", 4), claim("small", 1)]
    assert rejected(claims, objects, pod("p").claim("large", "small")) == there


def test_a_claim_that_is_used_twice_looks_for_two_volumes():
    """Upstream's: the claim comes up once for each volume of the pod, and a volume is found once."""
    p = pod("p").claim("x", "x")
    assert rejected(claim("x"), volume("v", on="a"), p) == everywhere(NONE)
    assert rejected(claim("x"), volume("v", on="a"), volume("w", on="a"), p) == {"b": NONE}


def test_a_pod_takes_the_smallest_volume_and_of_equal_ones_the_first_by_name():
    cycles = pass_over(
        node("a"),
        WAIT,
        volume("c", 5),
        volume("b", 2, labels={"media": "ssd"}),
        volume("a", 2),
        [claim(name, 1) for name in ("x", "z")],
        claim("y", 2, select={"media": "ssd"}),
        pod("p").claim("x").created(3),
        pod("q").claim("y").created(2),
        pod("r").claim("z").created(1),
    )
    # x takes a, which leaves b to y and c to z
    assert [cycles[name]["result"] for name in "pqr"] == ["bound", "bound", "bound"]


def test_a_volume_is_taken_once():
    cycles = pass_over(
        node("a"),
        WAIT,
        volume("v"),
        claim("x"),
        claim("y"),
        pod("p").claim("x").created(2),
        pod("q").claim("y").created(1),
    )
    assert cycles["p"]["result"] == "bound"
    assert cycles["q"]["filter"]["a"]["reasons"] == [
        "node(s) didn't find available persistent volumes to bind"
    ]


def test_who_shares_a_claim_goes_where_its_volume_is():
    cycles = pass_over(
        NODES,
        WAIT,
        volume("v", on="b"),
        volume("w", 9, on="a"),
        claim("x"),
        pod("p").claim("x").select(hostname="b").created(2),
        pod("q").claim("x").created(1),
    )
    assert cycles["q"]["feasible"] == ["b"]
    assert cycles["q"]["filter"]["a"]["reasons"] == ["node(s) didn't match PersistentVolume's node affinity"]


def test_who_shares_a_claim_goes_where_its_volume_is_made():
    cycles = pass_over(
        NODES,
        MAKE,
        claim("x", storage="make"),
        pod("p").claim("x").select(hostname="b").created(2),
        pod("q").claim("x").created(1),
    )
    assert cycles["q"]["feasible"] == ["b"]


def test_preemption_frees_no_volume():
    cycles = pass_over(node("a"), WAIT, claim("x"), pod("v").on("a"), pod("p").claim("x").priority(10))
    assert cycles["p"]["message"].endswith("1 Preemption is not helpful for scheduling.")


def in_tree(**facts):
    """A claim with the in-tree EBS volume in zone z1 that it is bound to."""
    claimed, made = bound("x", zones=["z1"], awsElasticBlockStore={"volumeID": "vol-1"}, **facts)
    dump = made.model_dump(by_alias=True, exclude_unset=True, mode="json")
    return claimed, PersistentVolume.model_validate(dump | {"spec": dump["spec"] | {"csi": None}})


@pytest.mark.parametrize(
    "migrated, there",
    [
        pytest.param((), {"b": FAR}, id="the kubelet has it: the zone label counts"),
        pytest.param(
            ("kubernetes.io/aws-ebs",), {"a": FAR, "b": FAR}, id="the driver has it: its own label counts"
        ),
    ],
)
def test_in_tree_volumes(migrated, there):
    moved = csi_node("a", migrated=migrated, other=9)
    assert Look(NODES, moved, in_tree(), pod("p").claim("x")).rejected == there
    labelled = (NODES[0].label({"topology.ebs.csi.aws.com/zone": "z1"}), NODES[1])
    assert Look(labelled, moved, in_tree(), pod("p").claim("x")).rejected == {"b": FAR}
