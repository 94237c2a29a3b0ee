"""What placing, removing and taking back pods does to claims."""

import pytest
from support.builders import cluster, group, node
from support.devices import DRIVER, claim, device_class, gpu, request, slice_on, user

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.dra.devices import DeviceId
from kubestow.framework.dra.index import device_index
from kubestow.framework.state.state import State


class Round:
    """Pods by name on a cluster with two devices on node `a`."""

    def __init__(self, *objects, gates=""):
        devices = device_class(), slice_on("a", gpu("g0"), gpu("g1"))
        self.cluster = build_cluster(cluster(node("a"), node("b"), devices, *objects, gates=gates))
        self.state = State.initial(self.cluster)

    def pod(self, name):
        return self.cluster.pod_index[f"default/{name}"]

    def place(self, name):
        i, n = self.pod(name), self.cluster.node_index["a"]
        self.state.place(i, n, framework_for(self.cluster, i).reserve(self.state, i, n))

    @property
    def taken(self):
        """Claim to devices."""
        return {
            key.partition("/")[2]: [result.id.device for result in allocation.results]
            for key, allocation in self.state.claims.allocations.items()
        }

    @property
    def reserved(self):
        """Claim to consumers: pods by name, others as they are."""
        pods = self.cluster.pods
        return {
            key.partition("/")[2]: {c if isinstance(c, str) else pods[c].pod.name for c in consumers}
            for key, consumers in self.state.claims.reserved.items()
        }

    def holds(self, device):
        """Whether a device is in use."""
        identity = device_index(self.cluster).inventory.identify(DeviceId(DRIVER, "a", device))
        return self.state.claims.in_use(identity)


SHARED = [user("p", "c"), user("q", "c"), claim("c")]


def test_the_first_pod_allocates_and_all_reserve():
    r = Round(*SHARED)
    r.place("p")
    r.place("q")
    assert r.taken == {"c": ["g0"]}
    assert r.reserved == {"c": {"p", "q"}}


def test_the_last_pod_to_leave_frees_the_devices():
    r = Round(*SHARED)
    r.place("p")
    r.place("q")
    r.state.remove(r.pod("p"))
    assert r.taken == {"c": ["g0"]}
    assert r.holds("g0")
    r.state.remove(r.pod("q"))
    assert r.taken == r.reserved == {}
    assert not r.holds("g0")


def test_a_reservation_of_the_input_keeps_a_claim():
    r = Round(user("p", "c"), claim("c", has=[("r", "a", "g1")], at="a", users=["gone"]))
    r.place("p")
    r.state.remove(r.pod("p"))
    assert r.taken == {"c": ["g1"]}
    assert r.reserved == {"c": {"pods default/gone"}}


def test_a_running_pod_has_what_the_input_says():
    held = claim("c", has=[("r", "a", "g1")], at="a", users=["p"])
    r = Round(user("p", "c").on("a"), user("q", "d").on("a"), held, claim("d"))
    assert r.taken == {"c": ["g1"]}
    assert r.reserved == {"c": {"p"}}
    r.state.remove(r.pod("q"))
    r.state.remove(r.pod("p"))
    assert r.taken == r.reserved == {}


def test_taking_back_undoes_placing():
    r = Round(*SHARED, user("s", "d"), claim("d"))
    before = r.state.bindings()
    r.place("p")
    between = r.state.bindings()
    r.place("q")
    r.place("s")
    for name in ("s", "q"):
        r.state.take_back(r.pod(name))
    assert r.state.bindings() == between != before
    r.state.take_back(r.pod("p"))
    assert r.state.bindings() == before
    assert not r.holds("g0")


def test_taking_back_leaves_an_old_allocation_alone():
    r = Round(user("p", "c"), claim("c", has=[("r", "a", "g1")], at="a"))
    r.place("p")
    r.state.take_back(r.pod("p"))
    assert r.taken == {"c": ["g1"]}
    assert r.reserved == {}


def test_deallocating_frees_devices_and_reservations():
    r = Round(user("p", "c"), claim("c", has=[("r", "a", "g1")], at="a", users=["p"]))
    version = r.state.version
    r.state.deallocate("default/c")
    assert r.taken == r.reserved == {}
    assert r.state.version != version
    r.place("p")
    assert r.taken == {"c": ["g0"]}


def test_a_copy_goes_its_own_way():
    r = Round(*SHARED)
    other = r.state.copy()
    r.place("p")
    assert other.claims.allocations == {}
    later = r.state.copy()
    r.state.remove(r.pod("p"))
    assert set(later.claims.allocations) == {"default/c"}


def test_equal_uids_are_one_consumer():
    def with_uid(builder, uid):
        return builder.changed(lambda d: d["metadata"].update(uid=uid))

    held = claim("c", has=[("r", "a", "g1")], at="a", users=["p"])
    (reference,) = held.status.reserved_for
    other = reference.model_copy(update={"uid": "2"})
    stale = held.model_copy(update={"status": held.status.model_copy(update={"reserved_for": (other,)})})
    assert Round(with_uid(user("p", "c"), "2"), stale).reserved == {"c": {"p"}}
    assert Round(with_uid(user("p", "c"), "1"), stale).reserved == {"c": {"pods default/p 2"}}


@pytest.mark.parametrize(
    "objects",
    [
        pytest.param([], id="nothing at all"),
        pytest.param([user("p").on("a")], id="pods without claims"),
    ],
)
def test_a_cluster_without_devices_has_no_claims(objects):
    assert State.initial(build_cluster(cluster(node("a"), *objects))).claims is None


def test_an_answer_is_asked_for_once_as_long_as_its_pools_stay_as_they_are(monkeypatch):
    """20 pods of one kind: the allocator is asked again only where a pod took something."""
    from kubestow.framework.dra import answers

    asked = []
    original = answers.allocate
    monkeypatch.setattr(answers, "allocate", lambda *args: asked.append(args[0].node) or original(*args))
    nodes = [node(f"n{k}") for k in range(10)]
    slices = [slice_on(f"n{k}", gpu("g0"), gpu("g1")) for k in range(10)]
    pods = [user(f"p{k}", f"c{k}") for k in range(20)]
    claims = [claim(f"c{k}", request("r")) for k in range(20)]
    whole = build_cluster(cluster(*nodes, device_class(), *slices, *pods, *claims))
    state = State.initial(whole)
    for i in whole.pending:
        framework = framework_for(whole, i)
        n = int(framework.filter_all(state, i).feasible[0])
        state.place(i, n, framework.reserve(state, i, n))
    assert len(state.claims.allocations) == 20
    assert len(asked) == 10 + 19


def test_answers_are_those_of_the_state_that_asks():
    """Two states that went different ways are asked in turn."""
    r = Round(
        user("p", "c"),
        user("q", "d"),
        user("s", "e"),
        claim("c"),
        claim("d", request("r", count=2)),
        claim("e"),
    )
    framework = framework_for(r.cluster, r.pod("q"))
    other = r.state.copy()
    assert framework.filter_node(other, r.pod("q"), 0).ok
    r.place("p")
    for _ in range(2):
        assert not framework.filter_node(r.state, r.pod("q"), 0).ok
        assert list(framework.filter_all(r.state, r.pod("q")).feasible) == []
        assert framework.filter_node(other, r.pod("q"), 0).ok
        assert list(framework.filter_all(other, r.pod("q")).feasible) == [0]
    r.state.take_back(r.pod("p"))
    assert framework.filter_node(r.state, r.pod("q"), 0).ok


# -- claims that are reserved for a pod group --


def held_by(*references):
    """Claim `c` with a device, reserved for consumers: ``("podgroups", "g")``."""
    found = claim("c", has=[("r", "a", "g1")], at="a")
    reserved = [{"resource": resource, "name": name} for resource, name in references]
    return found.model_copy(
        update={
            "status": type(found.status).model_validate(
                {**found.status.model_dump(by_alias=True), "reservedFor": reserved}
            )
        }
    )


GROUP = group("g", resourceClaims=[{"name": "e0", "resourceClaimName": "c"}])
WAITS = user("p", "c").member("g")


@pytest.mark.parametrize(
    "objects, gates, idle",
    [
        pytest.param([held_by(("podgroups", "g"))], "", True, id="nobody of the group is on a node"),
        pytest.param(
            [held_by(("podgroups", "g")), user("q").member("g").on("b")], "", False, id="somebody is"
        ),
        pytest.param(
            [held_by(("podgroups", "g")), user("q").member("g").on("b").terminating()],
            "",
            False,
            id="somebody still is",
        ),
        pytest.param([held_by(("podgroups", "g"), ("pods", "x"))], "", False, id="a pod has it, too"),
        pytest.param(
            [held_by(("podgroups", "g"))],
            "DRAWorkloadResourceClaims=false",
            False,
            id="no claims",
        ),
    ],
)
def test_a_claim_of_a_group_that_stands_nowhere_may_be_taken_back(objects, gates, idle):
    r = Round(GROUP, WAITS, *objects, gates=gates)
    assert r.state.claims.idle("default/c") == idle
    assert r.taken == {"c": ["g1"]}


def test_a_placed_member_reserves_the_claim_for_its_group():
    r = Round(GROUP, WAITS, held_by(("podgroups", "g")))
    r.place("p")
    assert r.reserved == {"c": {"podgroups default/g"}}
    assert not r.state.claims.idle("default/c")
