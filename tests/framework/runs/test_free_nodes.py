"""Free nodes: first fit empties what can be emptied, and no re-placing empties more than the bound."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import budget, cluster, node, pod

from kubestow.framework.runs.free_nodes import free_nodes
from kubestow.solver.plans.replay import follow


def owned(built, kind="ReplicaSet"):
    """Return a pod with a controller."""
    owner = {"apiVersion": "apps/v1", "kind": kind, "name": "o", "uid": "u", "controller": True}
    return built.changed(lambda doc: doc["metadata"].update(ownerReferences=[owner]))


def local(built):
    """Return a pod with an emptyDir."""
    return built.changed(lambda doc: doc["spec"].update(volumes=[{"name": "v", "emptyDir": {}}]))


def ephemeral(built):
    """Return a pod with a volume that is made for it."""
    template = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    volume = {"name": "v", "ephemeral": {"volumeClaimTemplate": template}}
    return built.changed(lambda doc: doc["spec"].update(volumes=[volume]))


def mirror(built):
    marks = {"kubernetes.io/config.mirror": "hash"}
    return built.changed(lambda doc: doc["metadata"].update(annotations=marks))


A, B, C = (node(name, cpu="4") for name in "abc")


def web(name="w", cpu="1"):
    return owned(pod(name).label(app="web").req(cpu=cpu))


ROWS = [
    pytest.param([A, B], (2, 0, 0), id="Nodes without pods are free"),
    pytest.param(
        [A, B, owned(pod("d").req(cpu="1"), "DaemonSet").on("a"), mirror(pod("m").req(cpu="1")).on("b")],
        (2, 0, 0),
        id="Pods that belong to their node leave it free",
    ),
    pytest.param([A, B, web().on("a").terminating()], (2, 0, 0), id="So does a pod that terminates"),
    pytest.param([A, B, web("v").on("a"), web("w").on("b")], (0, 1, 1), id="One node holds both pods"),
    pytest.param([A, B, web("v").on("a")], (1, 0, 0), id="A pod on its own needs a node as well"),
    pytest.param([A, B, web("v", "3").on("a"), web("w", "3").on("b")], (0, 0, 0), id="No node holds both"),
    pytest.param([A, B, C, *(web(n, "2").on(n) for n in "abc")], (0, 1, 1), id="Three halves need two nodes"),
    pytest.param(
        [A, B, web("v").on("a"), pod("alone").req(cpu="1").on("b")],
        (0, 1, 1),
        id="A pod without a controller stays, and others come to it",
    ),
    pytest.param(
        [A, B, local(web("v")).on("a"), local(web("w")).on("b")],
        (0, 0, 0),
        id="Pods with local data keep their nodes",
    ),
    pytest.param(
        [A, B, ephemeral(web("v")).on("a"), web("w").on("b")],
        (0, 1, 1),
        id="First fit leaves a volume of a pod's own alone, and others come to it",
    ),
    pytest.param(
        [A, B, C, *(ephemeral(web(n, "3")).on(n) for n in "abc")],
        (0, 0, 2),
        id="Of pods with volumes of their own the bound counts heads",
    ),
    pytest.param(
        [A, B, pod("v").req(cpu="1").on("a"), pod("alone").req(cpu="1").on("b")],
        (0, 0, 0),
        id="Two that stay keep two nodes",
    ),
    pytest.param(
        [A, B, web("v").on("a"), web("w").on("b"), budget("none", app="web", allowed=0)],
        (0, 0, 1),
        id="A budget that allows no eviction keeps the nodes",
    ),
    pytest.param(
        [A, B, C, *(web(n).on(n) for n in "abc"), budget("one", app="web", allowed=1)],
        (0, 1, 2),
        id="A budget is for all nodes together",
    ),
    pytest.param(
        [A, B, C, *(web(n).on(n) for n in "abc"), budget("two", app="web", allowed=9)],
        (0, 2, 2),
        id="The node that took a pod in takes the next one as well",
    ),
    pytest.param(
        [A, B, web("v").on("a"), web("w").on("b"), *(budget(n, app="web", allowed=9) for n in ("x", "y"))],
        (0, 0, 0),
        id="The eviction API refuses pods of two budgets",
    ),
    pytest.param(
        [A, B.cordoned(), web("v").on("a"), web("w").on("b")], (0, 1, 1), id="A cordoned node is emptied"
    ),
    pytest.param(
        [A.cordoned(), B.cordoned(), web("v").on("a"), web("w").on("b")],
        (0, 0, 1),
        id="Filters decide where pods go, sums alone the bound",
    ),
    pytest.param(
        [A, B, web("v").anti("kubernetes.io/hostname", {"app": "web"}).on("a"), web("w").on("b")],
        (0, 0, 1),
        id="Pods that will not be beside each other keep two nodes",
    ),
    pytest.param(
        [A, B, web("v").on("a"), web("w").on("b"), pod("p").req(cpu="3").priority(9).nominated("b")],
        (0, 1, 1),
        id="The room of a nominated pod is left to it",
    ),
]


@pytest.mark.parametrize("objects, told", ROWS)
def test_free_nodes(objects, told):
    found = free_nodes(cluster(*objects))
    assert (found.free, found.emptied, found.at_most) == told
    assert not follow(found.cluster, found.moves, {}).fault


def test_no_more_pods_are_tried_than_may_be():
    objects = [A, B, C, *(web(n).on(n) for n in "abc")]
    assert [free_nodes(cluster(*objects), most).emptied for most in (0, 1, 2)] == [0, 1, 2]


@st.composite
def rounds(draw):
    """Up to four nodes and four pods on them, with a budget that allows some evictions."""
    nodes = [(draw(st.integers(1, 4)), draw(st.booleans())) for _ in range(draw(st.integers(1, 4)))]
    pods = []
    free = [size for size, _ in nodes]
    for _ in range(draw(st.integers(0, 4))):
        size, n = draw(st.integers(1, 3)), draw(st.integers(0, len(nodes) - 1))
        if size <= free[n]:
            free[n] -= size
            pods.append((size, n, draw(st.sampled_from(("moves", "moves", "guarded", "stays", "daemon")))))
    return nodes, pods, draw(st.integers(0, 2))


def best(nodes, pods, allowed):
    """Return how many more nodes the best re-placing makes free, tried one by one."""

    def free(where):
        return len(nodes) - len({n for (_, _, kind), n in zip(pods, where, strict=True) if kind != "daemon"})

    most = start = free([n for _, n, _ in pods])
    for where in product(range(len(nodes)), repeat=len(pods)):
        moved = [(size, n, kind) for (size, old, kind), n in zip(pods, where, strict=True) if n != old]
        loads = [0] * len(nodes)
        for (size, _, _), n in zip(pods, where, strict=True):
            loads[n] += size
        possible = (
            all(kind in ("moves", "guarded") for _, _, kind in moved)
            and sum(kind == "guarded" for _, _, kind in moved) <= allowed
            and all(not nodes[n][1] for _, n, _ in moved)
            and all(load <= size for load, (size, _) in zip(loads, nodes, strict=True))
        )
        if possible:
            most = max(most, free(where))
    return most - start


@settings(max_examples=40)
@given(rounds())
def test_the_best_re_placing_lies_between_first_fit_and_the_bound(drawn):
    nodes, pods, allowed = drawn
    objects = [budget("b", app="guarded", allowed=allowed)]
    for n, (size, cordoned) in enumerate(nodes):
        built = node(f"n{n}", cpu=str(size))
        objects.append(built.cordoned() if cordoned else built)
    for k, (size, n, kind) in enumerate(pods):
        built = pod(f"p{k}").label(app=kind).req(cpu=str(size)).on(f"n{n}")
        controller = {"stays": None, "daemon": "DaemonSet"}.get(kind, "ReplicaSet")
        objects.append(owned(built, controller) if controller else built)
    found = free_nodes(cluster(*objects))
    assert found.emptied <= best(nodes, pods, allowed) <= found.at_most
    assert not follow(found.cluster, found.moves, {}).fault
