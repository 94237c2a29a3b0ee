"""Node groups from files: what is read of each format, and faults in one line."""

import gzip
import json
import os
from pathlib import Path

import pytest
import yaml
from support.paths import DATA

from kubestow.instances.manifests import snapshot_of
from kubestow.instances.node_groups.bundled import NAMES
from kubestow.instances.node_groups.file import load_catalogue, read_catalogue
from kubestow.instances.node_groups.templates import load_templates
from kubestow.models.errors import InputError
from kubestow.models.purchases import in_millionths, money

KARPENTER = os.environ.get("KARPENTER_INSTANCE_TYPES", "")
TEMPLATE = {"allocatable": {"cpu": "4"}}
SLICE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {"name": "g"},
    "spec": {"driver": "d", "devices": [{"name": "x"}]},
}


def read(**group):
    return read_catalogue(
        "g.yaml", {"kind": "NodeGroups", "nodeGroups": [{"name": "n", "template": TEMPLATE, **group}]}
    )


def nodes(catalogue):
    return [snapshot_of(offer.objects, name="test").nodes[0] for offer in catalogue.offers]


def test_each_zone_is_an_offer_with_a_node_of_its_own():
    found = read(zones=["a", "b"], price=0.25, stock={"b": 3}, max=5)
    assert [(o.name, o.group, o.zone, o.price, o.stock) for o in found.offers] == [
        ("n-a", "n", "a", 250_000, None),
        ("n-b", "n", "b", 250_000, 3),
    ]
    assert found.limits[0].most == 5
    assert [node.metadata.labels["topology.kubernetes.io/zone"] for node in nodes(found)] == ["a", "b"]


def test_devices_are_those_of_each_node():
    found = read(zones=["a", "b"], devices=[SLICE])
    slices = [snapshot_of(offer.objects, name="test").resource_slices[0] for offer in found.offers]
    names = [item.spec.node_name for item in slices]
    assert names == ["n-a", "n-b"]


def test_groups_of_a_scenario_are_read_and_one_that_is_sold_out_has_no_stock():
    group = {"name": "n", "template": {"zone": "a", **TEMPLATE}, "soldOut": True, "provisioning": "2m"}
    found = read_catalogue("s.yaml", {"name": "s", "autoscaler": {"groups": [group]}})
    assert [(offer.name, offer.zone, offer.stock) for offer in found.offers] == [("n", "a", 0)]


def test_karpenters_catalogue_has_an_offer_for_each_offering_that_is_available():
    found = load_catalogue([DATA / "instance_types.json"])
    assert [(o.name, o.group, o.zone, o.price) for o in found.offers] == [
        ("two-spot-a", "two-spot", "a", 500_000),
        ("two-on-demand-b", "two-on-demand", "b", 700_000),
    ]
    labels = nodes(found)[0].metadata.labels
    assert labels["kubernetes.io/arch"] == "amd64"
    assert labels["karpenter.sh/capacity-type"] == "spot"


@pytest.mark.skipif(not KARPENTER, reason="KARPENTER_INSTANCE_TYPES names no catalogue of Karpenter's own")
def test_karpenters_own_catalogue_is_read():
    types = json.loads(gzip.decompress(Path(KARPENTER).read_bytes()))
    available = sum(offering["Available"] for item in types for offering in item["offerings"])
    assert len(load_catalogue([KARPENTER]).offers) == available


@pytest.mark.parametrize("name", NAMES)
def test_bundled_groups_are_read_by_their_name(name):
    assert load_catalogue([name]).offers


@pytest.mark.parametrize(
    "group, words",
    [
        pytest.param({"price": -1}, "price: must be a number from 0 up, not -1", id="a price below nothing"),
        pytest.param({"price": "much"}, "price: must be a number, not 'much'", id="no number"),
        pytest.param({"min": 2, "max": 1}, "min: must be between 0 and max, not 2", id="least above most"),
        pytest.param({"max": -1}, "max: must be a whole number from 0 on, not -1", id="most below nothing"),
        pytest.param({"zones": ["a", "a"]}, "zones: names a zone twice", id="a zone twice"),
        pytest.param(
            {"zones": ["a"], "stock": {"b": 1}}, "stock: 'b' is none of its zones", id="stock of another zone"
        ),
        pytest.param({"prize": 1}, "prize: unknown field", id="a misspelt field"),
        pytest.param({"template": {}}, "template.allocatable: required", id="a template that offers nothing"),
        pytest.param(
            {"devices": [{"kind": "Pod"}]},
            "devices[0]: must be a ResourceSlice or CSINode",
            id="no device",
        ),
        pytest.param(
            {"template": {"zone": "a", **TEMPLATE}, "zones": ["b"]},
            "zones: goes with a template without a zone",
            id="zones and a zone",
        ),
    ],
)
def test_a_fault_is_told_with_its_field(group, words):
    with pytest.raises(InputError) as error:
        read(**group)
    assert f"nodeGroups[0].{words}" in str(error.value)


def test_names_are_given_once():
    groups = [{"name": "n", "template": TEMPLATE}] * 2
    with pytest.raises(InputError, match="two node groups are called 'n'"):
        read_catalogue("g.yaml", {"nodeGroups": groups})


def test_names_are_given_once_in_all_files(tmp_path):
    for name in ("one", "two"):
        text = yaml.safe_dump({"nodeGroups": [{"name": "n", "template": TEMPLATE}]})
        (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match="two node groups are called 'n'"):
        load_catalogue([tmp_path / "one", tmp_path / "two"])


@pytest.mark.parametrize("price, shown", [("0.100", "0.1"), (3, "3"), ("1.2345678", "1.234568"), (0, "0")])
def test_a_price_counts_to_the_sixth_decimal(price, shown):
    assert money(in_millionths(price)) == shown


NODE = "{apiVersion: v1, kind: Node, metadata: {name: big}}"
TYPE = '[{"name": "t", "resources": {"cpu": "2"}, "offerings": [{"Price": 1, "Available": true}]}]'


@pytest.mark.parametrize(
    "content, names",
    [
        pytest.param(NODE, ["big"], id="a Node"),
        pytest.param(f"kind: List\nitems: [{NODE}]", ["big"], id="a list of Nodes"),
        pytest.param(
            "nodeGroups: [{name: n, zones: [a, b], template: {allocatable: {cpu: '1'}}}]",
            ["n-a", "n-b"],
            id="groups with prices, a template for each zone",
        ),
        pytest.param(
            "autoscaler: {groups: [{name: n, template: {allocatable: {cpu: '1'}}}]}",
            ["n"],
            id="a scenario with an autoscaler",
        ),
        pytest.param(TYPE, ["t"], id="the catalogue of Karpenter"),
    ],
)
def test_templates_are_read_from_every_format(tmp_path, content, names):
    (tmp_path / "groups.yaml").write_text(content)
    found = load_templates(str(tmp_path / "groups.yaml"))
    assert [item["metadata"]["name"] for item in found] == names
    assert {item["kind"] for item in found} == {"Node"}


def test_templates_are_also_bundled():
    assert "medium-a" in {item["metadata"]["name"] for item in load_templates("three-sizes")}
