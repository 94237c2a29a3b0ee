"""Which pods are one class although each has volumes of its own."""

import pytest
from support.builders import cluster, node, pod
from support.storage import MAKE, NOW, WAIT, attachment, bound, claim, csi_node, volume

from kubestow.framework.index.cluster import Cluster

TWO = (pod("p").claim("x"), pod("q").claim("y"))


@pytest.mark.parametrize(
    "objects, alike",
    [
        pytest.param([claim("x"), claim("y"), TWO], True, id="claims that ask for the same"),
        pytest.param([claim("x"), claim("y", 2), TWO], False, id="of different size"),
        pytest.param([claim("x"), claim("y", storage="make"), TWO], False, id="of different classes"),
        pytest.param(
            [claim("x"), claim("y", modes=("ReadWriteMany",)), TWO], False, id="with different access modes"
        ),
        pytest.param([claim("x"), claim("y", select={"a": "b"}), TWO], False, id="with different selectors"),
        pytest.param([claim("x"), claim("y"), TWO, pod("r").claim("y")], False, id="one that is shared"),
        pytest.param(
            [claim("x"), pod("p").claim("x"), pod("q").claim("x")], True, id="a claim that both use"
        ),
        pytest.param(
            [claim("x"), claim("y"), volume("v", to="default/y"), TWO], False, id="one with a volume reserved"
        ),
        pytest.param([claim("x"), claim("y", selected="a"), TWO], False, id="one that is being made"),
        pytest.param([claim("x"), TWO], False, id="one that does not exist"),
        pytest.param(
            [claim(name, modes=("ReadWriteOncePod",)) for name in "xy"] + [TWO],
            False,
            id="ReadWriteOncePod claims, which hooks compare by name",
        ),
        pytest.param([bound("x", on="a"), bound("y", on="a"), TWO], True, id="bound within the same reach"),
        pytest.param([bound("x", on="a"), bound("y", on="b"), TWO], False, id="bound within another reach"),
        pytest.param(
            [bound("x", labels={"topology.kubernetes.io/zone": "z"}), bound("y"), TWO],
            False,
            id="bound to a volume with another zone",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), bound("y", handle="x"), TWO],
            False,
            id="two volumes with one handle",
        ),
        pytest.param(
            [csi_node("a", volumes=1), bound("x"), bound("y"), attachment("a", "y"), TWO],
            False,
            id="one that is attached somewhere",
        ),
        pytest.param(
            [claim("x", storage="now"), claim("y", storage="now"), TWO], False, id="claims to refuse"
        ),
        pytest.param([pod("p").disk("d"), pod("q").disk("d")], True, id="the same disk"),
        pytest.param([pod("p").disk("d"), pod("q").disk("e")], False, id="different disks"),
        pytest.param(
            [
                pod("p").volume(name="token-abc12", projected={"sources": []}),
                pod("q").volume(name="token-xyz89", projected={"sources": []}),
            ],
            True,
            id="volumes that no plugin looks at, whatever their names",
        ),
        pytest.param(
            [
                claim("p-data", storage="make", owner=""),
                claim("q-data", storage="make", owner=""),
                pod("p").ephemeral("data"),
                pod("q").ephemeral("data"),
            ],
            True,
            id="ephemeral volumes",
        ),
    ],
)
def test_classes(objects, alike):
    made = Cluster(cluster(node("a"), node("b"), WAIT, MAKE, NOW, objects))
    p, q = (made.pods[made.pod_index[f"default/{name}"]].cls for name in "pq")
    assert (p == q) == alike
