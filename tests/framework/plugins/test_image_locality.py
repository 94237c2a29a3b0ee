import pytest
from support.builders import node, pod
from support.filtering import Look

from kubestow.framework.plugins.image_locality import normalized

MIB = 2**20


def four(image, size, *, on=("a",)):
    return [node(name).image(image, size=size) if name in on else node(name) for name in "abcd"]


@pytest.mark.parametrize(
    "nodes, p, score",
    [
        pytest.param(four("app:1", 300 * MIB), pod("p").image("app:1"), 5, id="300 MiB on one of four nodes"),
        pytest.param(
            four("app:1", 90 * MIB), pod("p").image("app:1"), 0, id="below 23 MiB there are no points"
        ),
        pytest.param(
            four("app:1", 4000 * MIB), pod("p").image("app:1"), 100, id="1000 MiB for a container are enough"
        ),
        pytest.param(
            four("app:1", 300 * MIB, on="abcd"),
            pod("p").image("app:1"),
            28,
            id="an image that all have counts in full",
        ),
        pytest.param(four("app:latest", 300 * MIB), pod("p").image("app"), 5, id="no tag means latest"),
        pytest.param(four("app:2", 300 * MIB), pod("p").image("app:1"), 0, id="another tag is another image"),
        pytest.param(
            four("app:1", 600 * MIB),
            pod("p")
            .image("app:1")
            .changed(lambda d: d["spec"].update(initContainers=[{"name": "i", "image": "x"}])),
            6,
            id="each container raises what is enough",
        ),
    ],
)
def test_score(nodes, p, score):
    assert Look(*nodes, p).scores("ImageLocality")["a"] == score


def test_the_size_is_that_of_the_first_node_that_has_the_image():
    nodes = [node("a").image("app:1", size=600 * MIB), node("b").image("app:1", size=60 * MIB)]
    scores = Look(*nodes, pod("p").image("app:1")).scores("ImageLocality")
    assert scores["a"] == scores["b"] == 100 * (600 - 23) // (1000 - 23)


@pytest.mark.parametrize(
    "image, name",
    [
        pytest.param("app", "app:latest", id="no tag"),
        pytest.param("host:5000/app", "host:5000/app:latest", id="a port is no tag"),
        pytest.param("host:5000/app:1", "host:5000/app:1", id="a tag"),
        pytest.param("app@sha256:ab", "app@sha256:ab", id="a digest"),
    ],
)
def test_names(image, name):
    assert normalized(image) == name
