import pytest
from support.builders import node, pod
from support.filtering import Look, pass_over
from support.storage import WAIT, bound, claim, volume

DISK = "U VolumeRestrictions: node(s) had no available disk"
CLAIM = "PersistentVolumeClaim with ReadWriteOncePod access mode"
IN_USE = f"U VolumeRestrictions: node(s) unavailable due to {CLAIM} already in-use by another pod"
EXCLUSIVE = bound("x", modes=("ReadWriteOncePod",))


def ebs(name):
    return {"awsElasticBlockStore": {"volumeID": name, "readOnly": True}}


def iscsi(iqn, *, read_only=False):
    return {"iscsi": {"iqn": iqn, "readOnly": read_only, "targetPortal": "p", "lun": 0}}


def rbd(*monitors, image="i", pool="", read_only=False):
    source = {"monitors": list(monitors), "image": image, "readOnly": read_only}
    return {"rbd": source | ({"pool": pool} if pool else {})}


@pytest.mark.parametrize(
    "ours, theirs, taken",
    [
        pytest.param(pod("p").disk("d"), pod("v").disk("d"), True, id="a disk is taken once"),
        pytest.param(pod("p").disk("d"), pod("v").disk("e"), False, id="another disk is free"),
        pytest.param(
            pod("p").disk("d", read_only=True),
            pod("v").disk("d"),
            True,
            id="reading does not go with writing",
        ),
        pytest.param(
            pod("p").disk("d", read_only=True),
            pod("v").disk("d", read_only=True),
            False,
            id="two may read",
        ),
        pytest.param(
            pod("p").volume(**ebs("d")),
            pod("v").volume(**ebs("d")),
            True,
            id="an EBS volume is taken once, even if only read",
        ),
        pytest.param(pod("p").volume(**ebs("d")), pod("v").disk("d"), False, id="kinds of disks are apart"),
        pytest.param(
            pod("p").volume(**iscsi("q")), pod("v").volume(**iscsi("q", read_only=True)), True, id="one IQN"
        ),
        pytest.param(pod("p").volume(**iscsi("q")), pod("v").volume(**iscsi("r")), False, id="another IQN"),
        pytest.param(
            pod("p").volume(**rbd("m1", "m2")),
            pod("v").volume(**rbd("m2", "m3")),
            True,
            id="a monitor in common",
        ),
        pytest.param(
            pod("p").volume(**rbd("m1")), pod("v").volume(**rbd("m2")), False, id="no monitor in common"
        ),
        pytest.param(
            pod("p").volume(**rbd("m", pool="rbd")),
            pod("v").volume(**rbd("m")),
            True,
            id="the pool is rbd where none is named",
        ),
        pytest.param(
            pod("p").volume(**rbd("m", image="i")),
            pod("v").volume(**rbd("m", image="j")),
            False,
            id="another image",
        ),
    ],
)
def test_disks(ours, theirs, taken):
    look = Look(node("a"), node("b"), theirs.on("a"), ours)
    assert look.rejected == ({"a": DISK} if taken else {})


@pytest.mark.parametrize(
    "objects, rejected",
    [
        pytest.param([EXCLUSIVE, pod("p").claim("x")], {}, id="nobody uses it"),
        pytest.param(
            [EXCLUSIVE, pod("p").claim("x"), pod("v").claim("x").on("b")],
            {"a": IN_USE, "b": IN_USE},
            id="one user anywhere is in the way everywhere",
        ),
        pytest.param(
            [EXCLUSIVE, pod("p").claim("x"), pod("v").claim("x").on("b").terminating()],
            {"a": IN_USE, "b": IN_USE},
            id="a terminating one, too",
        ),
        pytest.param(
            [bound("x"), pod("p").claim("x"), pod("v").claim("x").on("b")],
            {},
            id="other access modes are no concern of the scheduler",
        ),
        pytest.param(
            [
                EXCLUSIVE,
                bound("x", namespace="other", handle="y"),
                pod("p").claim("x"),
                pod("v", namespace="other").claim("x").on("b"),
            ],
            {},
            id="a claim of the same name in another namespace is another",
        ),
        pytest.param(
            [
                EXCLUSIVE,
                pod("p").claim("x").disk("d"),
                pod("v").claim("x").on("b"),
                pod("w").disk("d").on("a"),
            ],
            {"a": DISK, "b": IN_USE},
            id="disks are looked at first",
        ),
        pytest.param(
            [pod("p").claim("ghost")],
            {n: 'UAU VolumeRestrictions: persistentvolumeclaim "ghost" not found' for n in "ab"},
            id="a claim that does not exist",
        ),
    ],
)
def test_claims(objects, rejected):
    assert Look(node("a"), node("b"), WAIT, objects).rejected == rejected


def test_preemption_frees_an_exclusive_claim():
    cycles = pass_over(
        node("a"), node("b"), EXCLUSIVE, pod("v").claim("x").on("b"), pod("p").claim("x").priority(10)
    )
    assert (cycles["p"]["result"], cycles["p"]["node"], cycles["p"]["victims"]) == (
        "nominated",
        "b",
        ["default/v"],
    )


def test_preemption_frees_a_disk():
    cycles = pass_over(node("a"), pod("v").disk("d").on("a"), pod("p").disk("d").priority(10))
    assert (cycles["p"]["result"], cycles["p"]["victims"]) == ("nominated", ["default/v"])


def test_hooks_compare_names_whatever_the_namespace():
    """Upstream's: evicting a pod of another namespace seems to free the claim of the same name."""
    cycles = pass_over(
        node("a", cpu="1"),
        node("b"),
        EXCLUSIVE,
        bound("x", namespace="other", handle="y"),
        pod("v").claim("x").priority(10).on("b"),
        pod("w", namespace="other").claim("x").req(cpu="1").on("a"),
        pod("p").claim("x").req(cpu="1").priority(10),
    )
    assert (cycles["p"]["result"], cycles["p"]["victims"]) == ("nominated", ["other/w"])


def test_a_pod_bound_in_the_pass_uses_its_claim():
    cycles = pass_over(
        node("a"),
        WAIT,
        claim("x", modes=("ReadWriteOncePod",)),
        volume("one", modes=("ReadWriteOncePod",)),
        pod("p").claim("x").created(2),
        pod("q").claim("x").created(1),
    )
    assert cycles["p"]["result"] == "bound"
    assert cycles["q"]["filter"]["a"]["plugin"] == "VolumeRestrictions"
