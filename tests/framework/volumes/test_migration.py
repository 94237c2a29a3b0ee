"""In-tree volumes in the words of the drivers that took over."""

import pytest
from support.storage import volume

from kubestow.framework.volumes.migration import handle_of, plugin_of, translated_affinity
from kubestow.models.storage import PersistentVolumeSpec

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
EBS_ZONE = "topology.ebs.csi.aws.com/zone"


def gce(**labels):
    return {"gcePersistentDisk": {"pdName": "d"}}, labels


@pytest.mark.parametrize(
    "source, labels, handle",
    [
        pytest.param({"awsElasticBlockStore": {"volumeID": "vol-1"}}, {}, "vol-1", id="an EBS volume"),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://eu-west-1a/vol-1"}}, {}, "vol-1", id="in a URL"
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws:///vol-1"}}, {}, "vol-1", id="without a zone"
        ),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "aws://eu/disk"}}, {}, "", id="in a URL without sense"
        ),
        pytest.param(*gce(), "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", id="a GCE disk"),
        pytest.param(*gce(**{ZONE: "eu-1-a"}), "projects/UNSPECIFIED/zones/eu-1-a/disks/d", id="in a zone"),
        pytest.param(
            *gce(**{OLD_ZONE: "eu-1-b", ZONE: "eu-1-a"}),
            "projects/UNSPECIFIED/zones/eu-1-b/disks/d",
            id="the old label comes first",
        ),
        pytest.param(
            *gce(**{ZONE: "eu-1-a__eu-1-b"}), "projects/UNSPECIFIED/regions/eu-1/disks/d", id="in a region"
        ),
        pytest.param(*gce(**{ZONE: "eu-1-a__us-1-b"}), "", id="in two regions"),
        pytest.param(*gce(**{ZONE: "x__y"}), "", id="in zones of unknown regions"),
        pytest.param({"azureDisk": {"diskName": "d", "diskURI": "/uri"}}, {}, "/uri", id="an Azure disk"),
        pytest.param({"cinder": {"volumeID": "c"}}, {}, "c", id="a Cinder volume"),
        pytest.param({"portworxVolume": {"volumeID": "p"}}, {}, "p", id="a Portworx volume"),
        pytest.param({"vsphereVolume": {"volumePath": "x"}}, {}, "", id="one that is not counted"),
    ],
)
def test_handles(source, labels, handle):
    spec = PersistentVolumeSpec.model_validate(source)
    assert plugin_of(spec).startswith("kubernetes.io/")
    assert handle_of(spec, labels) == handle


def affine(*conditions, labels=(), plugin="awsElasticBlockStore"):
    """An in-tree volume with one term of node affinity."""
    terms = [{"matchExpressions": [{"key": k, "operator": "In", "values": list(v)} for k, v in conditions]}]
    affinity = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if conditions else {}
    source = {"awsElasticBlockStore": {"volumeID": "vol"}, "portworxVolume": {"volumeID": "vol"}}
    return volume("v", labels=dict(labels), **{plugin: source[plugin]}, **affinity)


@pytest.mark.parametrize(
    "made, wanted",
    [
        pytest.param(affine((ZONE, ["z1"])), {EBS_ZONE: ("z1",)}, id="the zone"),
        pytest.param(affine((OLD_ZONE, ["z1"])), {EBS_ZONE: ("z1",)}, id="in the old spelling"),
        pytest.param(
            affine((OLD_ZONE, ["z1"]), (OLD_REGION, ["r"])),
            {EBS_ZONE: ("z1",), REGION: ("r",)},
            id="an old region becomes a new one",
        ),
        pytest.param(
            affine((ZONE, ["z1"]), (OLD_REGION, ["r"])),
            {EBS_ZONE: ("z1",), OLD_REGION: ("r",)},
            id="unless the zone was new already",
        ),
        pytest.param(
            affine((ZONE, ["z1"]), labels={ZONE: "z2"}), {EBS_ZONE: ("z1",)}, id="the affinity decides"
        ),
        pytest.param(
            affine(("disk", ["ssd"]), labels={ZONE: "z1__z2"}),
            {"disk": ("ssd",), EBS_ZONE: ("z1", "z2")},
            id="labels are added",
        ),
        pytest.param(affine(labels={OLD_ZONE: "z1"}), {EBS_ZONE: ("z1",)}, id="to nothing, too"),
        pytest.param(affine(), None, id="nothing stays nothing"),
        pytest.param(
            affine((ZONE, ["z1"]), plugin="portworxVolume"),
            {ZONE: ("z1",)},
            id="a driver without a label of its own",
        ),
    ],
)
def test_affinity(made, wanted):
    found = translated_affinity(made)
    if wanted is None:
        assert found is None
    else:
        (term,) = found.terms
        assert {item.key: item.values for item in term.labels} == wanted
