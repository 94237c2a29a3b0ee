"""The allocator against an exhaustive search that knows the rules only from the checker, and whole rounds.

The exhaustive search tries every choice of devices in the allocator's documented order, so the first one that
the checker accepts must be the allocator's very answer.
"""

from itertools import chain, combinations, permutations, product

from hypothesis import given, note, settings
from hypothesis import strategies as st
from support.builders import cluster, node, pod
from support.devices import (
    DRIVER,
    alternative,
    claim,
    device_class,
    devices,
    first_of,
    gpu,
    model,
    request,
    slice_on,
    taint_rule,
    user,
)

from kubestow.framework.build import build_cluster
from kubestow.framework.cycle.budget_ledger import Ledger
from kubestow.framework.cycle.cycle import apply, schedule_one
from kubestow.framework.cycle.runtime import framework_for
from kubestow.framework.dra.allocation import Allocation, Result, write
from kubestow.framework.dra.checker import NewAllocation, faults
from kubestow.framework.dra.devices import DeviceId
from kubestow.framework.dra.index import device_index
from kubestow.framework.dra.search import Manner, allocate
from kubestow.framework.state.state import State
from kubestow.framework.vocabulary.status import Code
from kubestow.models.selectors import NodeSelector

ON_A = NodeSelector.model_validate(
    {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}
)
RELEASES = st.sampled_from(["1.34", "1.36"])
VALUES = {"default": "2", "validValues": ["2", "4"]}
CARD = {"card": {"memory": "4"}}
GUARDED = f'has(device.attributes["{DRIVER}"].model) && {model("a")}'


@st.composite
def some_device(draw, k):
    """A device; three kinds of them need sums."""
    kind = draw(st.sampled_from(["plain", "part", "part", "shared", "tainted"]))
    attributes = {"model": draw(st.sampled_from(["a", "b"])), "numa": draw(st.integers(0, 1))}
    attributes.pop(draw(st.sampled_from(["", "", "", "model", "numa"])), None)
    more = {
        "plain": {},
        "part": {"takes": {"card": {"memory": draw(st.sampled_from(["2", "3"]))}}},
        "shared": {"shared": True, "capacity": {"mem": ("4", draw(st.sampled_from([None, VALUES])))}},
        "tainted": {"taints": [("bad", "NoSchedule")]},
    }[kind]
    return gpu(f"g{k}", **more, **attributes)


@st.composite
def some_want(draw, make, name, *, everything=True):
    expressions = draw(st.sampled_from([[], [], [GUARDED], ["device.allowMultipleAllocations"]]))
    if everything and draw(st.integers(0, 5)) == 0:
        return make(name, "!device.allowMultipleAllocations", *expressions, mode="All")
    return make(
        name,
        *expressions,
        count=draw(st.sampled_from([1, 2, 2])),
        tolerate=draw(st.sampled_from([(), ("bad",)])),
        capacity=draw(st.sampled_from([None, None, None, {"mem": "1"}, {"mem": "3"}])),
    )


@st.composite
def some_claim(draw, name, *, everything=True):
    requests = []
    for k in range(draw(st.integers(1, 2))):
        if draw(st.integers(0, 2)):
            requests.append(draw(some_want(request, f"r{k}", everything=everything)))
        else:
            # 'All' in a later alternative is where upstream 1.34.1 itself goes astray.
            wants = [draw(some_want(alternative, f"s{w}", everything=False)) for w in range(2)]
            requests.append(first_of(f"r{k}", *wants))
    kind = draw(st.sampled_from([None, "match", "distinct"]))
    over = draw(st.sampled_from([(), ("r0",)])) if kind else ()
    attribute = draw(st.sampled_from(["numa", "model"]))
    return claim(name, *requests, over=over, **({kind: attribute} if kind else {}))


@st.composite
def some_round(draw):
    """A pod with one or two claims, a node with up to four devices, one of which may be in use."""
    made = [draw(some_device(k)) for k in range(draw(st.integers(2, 4)))]
    claims = [draw(some_claim(f"c{k}")) for k in range(draw(st.sampled_from([1, 1, 2])))]
    objects = [slice_on("a", *made, counters=CARD), *claims]
    if draw(st.integers(0, 3)) == 0 and not made[0]["allowMultipleAllocations"]:
        objects.append(claim("held", has=[("r", "a", "g0")], at="a", users=["q"]))
    if draw(st.integers(0, 4)) == 0:
        objects.append(taint_rule("rule", "bad", "NoSchedule", GUARDED))
    owner = user("p", *(item.name for item in claims))
    return cluster(node("a"), device_class(), owner, *objects, release=draw(RELEASES))


def taken_of(device, asked):
    """What a request takes of a shared device; None where it cannot."""
    capacity = device.capacity["mem"]
    if capacity.request_policy is None:
        amount = capacity.value if asked is None else asked
    else:
        amount = 2 if asked is None else next(value for value in (2, 4) if value >= asked)
    return ((f"{DRIVER}/mem", amount),)


def choices(made, want, name):
    """Every choice of devices for one want, in order: results, whatever the rules say."""
    asked = (want.capacity.requests if want.capacity else {}).get("mem")

    def results(chosen):
        return tuple(
            Result(
                name,
                DeviceId(DRIVER, "a", device.name),
                share=str(k) if device.allow_multiple_allocations else "",
                taken=taken_of(device, asked) if device.allow_multiple_allocations else (),
            )
            for k, device in enumerate(chosen)
        )

    if want.allocation_mode == "All":
        sizes = range(1, len(made) + 1)
        return map(results, chain.from_iterable(combinations(made, size) for size in sizes))
    if any(device.allow_multiple_allocations for device in made):
        return map(results, product(made, repeat=want.count))
    return map(results, permutations(made, want.count))


def options(made, wanted):
    """Every choice for one claim, in the allocator's order."""
    per_request = []
    for item in wanted.spec.devices.requests:
        if item.exactly is not None:
            per_request.append(list(choices(made, item.exactly, item.name)))
        else:
            wants = item.first_available
            per_request.append([c for want in wants for c in choices(made, want, f"{item.name}/{want.name}")])
    for parts in product(*per_request):
        yield Allocation(tuple(chain.from_iterable(parts)), ON_A)


def first_answer(snapshot):
    """The first choice for all claims of the pod that the checker accepts; None where it accepts none."""
    made = snapshot.resource_slices[0].spec.devices
    wanted = [item for item in snapshot.resource_claims if item.name != "held"]
    held = {}
    if len(wanted) < len(snapshot.resource_claims):
        held = {"default/held": Allocation((Result("r", DeviceId(DRIVER, "a", "g0")),), ON_A)}
    good = [
        [
            option
            for option in options(made, item)
            if not any(True for _ in check(snapshot, [(item, option)], held))
        ]
        for item in wanted
    ]
    for combined in product(*good):
        if not any(True for _ in check(snapshot, list(zip(wanted, combined, strict=True)), held)):
            return {item.name: devices(option) for item, option in zip(wanted, combined, strict=True)}
    return None


def check(snapshot, pairs, held):
    new = [NewAllocation(item.key, item.spec.devices, option, "a") for item, option in pairs]
    return faults(snapshot, new, held)


@settings(max_examples=200, deadline=None)
@given(some_round())
def test_the_first_of_all_answers(snapshot):
    whole = build_cluster(snapshot)
    state = State.initial(whole)
    (i,) = whole.pending
    framework = framework_for(whole, i)
    status = framework.filter_node(state, i, 0)
    if status.code is Code.ERROR:
        assert "claim constraint" in status.message
        return
    expected = first_answer(snapshot)
    if not status.ok:
        assert expected is None
        return
    index = device_index(whole)
    keys = [item.key for item in index.claims_of(i)]
    manner = Manner(whole.release.repeated_shares, lost_counters=False)
    specs, inventory = [index.spec(key) for key in keys], index.inventory
    found = allocate(inventory.view(0), specs, state.claims, inventory.counters, manner)
    permitted = {key: write(key, picks, "a") for key, picks in zip(keys, found, strict=True)}
    assert {key.partition("/")[2]: devices(allocation) for key, allocation in permitted.items()} == expected
    # A search that loses counters may find other devices; they are within the rules.
    brought = framework.reserve(state, i, 0)
    held = {key: given for key, given in index.given.items() if key not in keys}
    pairs = [(index.claims[key], given) for key, given in brought.items()]
    assert list(check(snapshot, pairs, held)) == []
    assert whole.release.lost_counters or brought == permitted


@st.composite
def some_cluster(draw):
    """Two nodes with devices and some in the network, pods with claims of their own and shared ones."""
    slices = [
        slice_on(name, *(draw(some_device(k)) for k in range(draw(st.integers(1, 3)))), counters=CARD)
        for name in ("a", "b")
    ]
    net = slice_on("net", *(draw(some_device(k)) for k in range(2)), name="net", counters=CARD)
    spec = net.spec.model_copy(update={"node_name": None, "all_nodes": True})
    slices.append(net.model_copy(update={"spec": spec}))
    claims = [draw(some_claim(f"c{k}", everything=False)) for k in range(4)]
    names = [item.name for item in claims]
    pods = [
        user(f"p{k}", *draw(st.lists(st.sampled_from(names), min_size=1, max_size=2, unique=True)))
        .priority(draw(st.integers(0, 1)))
        .req(cpu=draw(st.sampled_from(["1", "3"])))
        for k in range(draw(st.integers(2, 5)))
    ]
    filler = pod("filler").req(cpu="3").priority(-1).on("a")
    return cluster(node("a"), node("b"), device_class(), *slices, *claims, *pods, filler)


@settings(max_examples=60, deadline=None)
@given(some_cluster())
def test_no_round_breaks_a_rule(snapshot):
    whole = build_cluster(snapshot)
    state = State.initial(whole)
    ledger = Ledger(whole)
    new = []
    for i in whole.pending:
        cycle = schedule_one(framework_for(whole, i), state, i, ledger)
        note(f"{whole.pods[i].key}: {cycle.outcome} {cycle.message(whole.n_nodes)}")
        specs = {item.key: item.spec.devices for item in snapshot.resource_claims}
        new += [
            NewAllocation(key, specs[key], allocation, whole.node_names[cycle.node])
            for key, allocation in cycle.allocations.items()
        ]
        apply(state, cycle, ledger)
    assert list(faults(snapshot, new)) == []
    assert {item.key: item.allocation for item in new} == dict(state.claims.allocations)
