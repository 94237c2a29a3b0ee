import pytest
from support.builders import KEYS, node, pod
from support.filtering import Look
from support.storage import MAKE, NOW, WAIT, bound, claim

OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
ELSEWHERE = "UAU VolumeZone: node(s) had no available volume zone"
ZONE, REGION = KEYS["zone"], KEYS["region"]


@pytest.mark.parametrize(
    "labels, there",
    [
        pytest.param({}, "abcd", id="a volume without labels"),
        pytest.param({ZONE: "z1"}, "ad", id="a zone; a node without any such label takes every volume"),
        pytest.param({ZONE: "z1__z2"}, "abd", id="two zones"),
        pytest.param({ZONE: " z1 __ z3"}, "ad", id="blanks do not count"),
        pytest.param({ZONE: "z1__"}, "abcd", id="a label that makes no sense does not count"),
        pytest.param({REGION: "r1"}, "bd", id="a region, which other nodes lack"),
        pytest.param({ZONE: "z2", REGION: "r1"}, "bd", id="both"),
        pytest.param({OLD_ZONE: "z1"}, "ad", id="an old label is compared with a new one"),
        pytest.param({OLD_ZONE: "z3"}, "cd", id="or with an old one"),
        pytest.param({ZONE: "z3"}, "d", id="but a new label never with an old one"),
    ],
)
def test_filter(labels, there):
    nodes = [
        node("a", zone="z1"),
        node("b", zone="z2").label({REGION: "r1"}),
        node("c").label({OLD_ZONE: "z3"}),
        node("d"),
    ]
    look = Look(nodes, bound("x", labels=labels), pod("p").claim("x"))
    assert look.rejected == {n: ELSEWHERE for n in "abcd" if n not in there}


ONLY_ZONES = {
    "profiles": [
        {
            "plugins": {
                "multiPoint": {"disabled": [{"name": "VolumeBinding"}, {"name": "VolumeRestrictions"}]},
            }
        }
    ]
}


@pytest.mark.parametrize(
    "claimed, reason",
    [
        pytest.param(claim("x"), "", id="a claim that is bound with its pod"),
        pytest.param(
            claim("x", storage="now"), "PersistentVolume had no name", id="a claim that waits for a volume"
        ),
        pytest.param(
            claim("x", storage=""),
            "PersistentVolumeClaim had no pv name and storageClass name",
            id="without a class",
        ),
        pytest.param(
            claim("x", storage="unknown"),
            'storageclass.storage.k8s.io "unknown" not found',
            id="of an unknown class",
        ),
        pytest.param(
            claim("x", to="gone"), 'persistentvolume "gone" not found', id="a volume that is not there"
        ),
        pytest.param((), 'persistentvolumeclaim "x" not found', id="a claim that is not there"),
    ],
)
def test_refusals(claimed, reason):
    look = Look(node("a"), WAIT, MAKE, NOW, claimed, pod("p").claim("x"), configuration=ONLY_ZONES)
    assert look.rejected == ({"a": f"UAU VolumeZone: {reason}"} if reason else {})
