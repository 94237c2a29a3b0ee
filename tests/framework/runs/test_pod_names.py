"""Which pod a name means, with and without a namespace."""

import re

import pytest
from support.builders import cluster, pod

from kubestow.framework.runs.pod_names import full_name
from kubestow.models.errors import KubestowError

PODS = [
    pod("web"),
    pod("web", namespace="shop"),
    pod("db", namespace="shop"),
    pod("x", namespace="a"),
    pod("x", namespace="b"),
    pod("odd", namespace="pod"),
]


@pytest.mark.parametrize(
    "name, namespace, meant",
    [
        pytest.param("shop/web", None, "shop/web", id="a name with its namespace"),
        pytest.param("db", None, "db", id="the only one is left to the caller"),
        pytest.param("web", None, "default/web", id="of several the one in default"),
        pytest.param("x", None, "x", id="of several, none in default: left to the caller"),
        pytest.param("nothing", None, "nothing", id="none: left to the caller"),
        pytest.param("web", "shop", "shop/web", id="in a namespace"),
        pytest.param("web", "default", "default/web", id="in default"),
        pytest.param("nothing", "shop", "shop/nothing", id="nowhere, in a namespace"),
        pytest.param("shop/web", "shop", "shop/web", id="the namespace twice"),
        pytest.param("pod/db", None, "db", id="as -o name has it"),
        pytest.param("pods/db", "shop", "shop/db", id="as kubectl takes it"),
        pytest.param("pod/odd", None, "pod/odd", id="a namespace called pod"),
    ],
)
def test_the_pod_that_is_meant(name, namespace, meant):
    assert full_name(cluster(*PODS), name, namespace) == meant


@pytest.mark.parametrize(
    "name, namespace, message",
    [
        pytest.param(
            "shop/db",
            "default",
            "--namespace default: the pod 'shop/db' is in namespace shop",
            id="two namespaces",
        ),
        pytest.param(
            "db", "default", "test: there is no pod 'default/db'; there is shop/db", id="another namespace"
        ),
    ],
)
def test_a_name_in_the_wrong_namespace_is_refused(name, namespace, message):
    with pytest.raises(KubestowError, match=f"^{re.escape(message)}$"):
        full_name(cluster(*PODS), name, namespace)
