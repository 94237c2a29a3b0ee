"""An event costs what it wakes and asks, not what waits; the answers are those of asking everybody."""

from hypothesis import given
from hypothesis import strategies as st
from support.builders import node, pod
from support.changing import Queue, built, with_uid

from kubestow.framework.events.changes import Occurrence, occurrences
from kubestow.framework.events.objects import ObjectStore
from kubestow.framework.hints.registry import HINT_PLUGINS, HintMap
from kubestow.framework.queue.counts import QueueCounts
from kubestow.framework.queue.queued_pod import QueuedPod
from kubestow.framework.queue.requeue import Judge
from kubestow.framework.queue.unschedulable import UnschedulablePods
from kubestow.framework.vocabulary.profile import profiles_of
from kubestow.framework.vocabulary.releases import RELEASES
from kubestow.models.features import FeatureGates
from kubestow.models.kube_version import DEFAULT_KUBE_VERSION


def copies(builder, count):
    """Make pods that differ in their names only; much cheaper than building each."""
    first = built(builder)
    return [
        first.model_copy(
            update={
                "metadata": first.metadata.model_copy(update={"name": f"{first.name}-{i}", "uid": f"u{i}"})
            }
        )
        for i in range(count)
    ]


def test_twenty_thousand_pods_of_ten_kinds_are_ten_questions():
    queue = Queue(*(p for k in range(10) for p in copies(pod(f"kind{k}").req(cpu=str(8 + k)), 2000)))
    while (popped := queue.queue.pop()) is not None:
        queue.queue.fail(popped.item, ["NodeResourcesFit"])
    queue.add(node("n", cpu="4"))
    counts = queue.queue.counts
    assert counts.evaluations == 10
    assert counts.hints == {("NodeResourcesFit", "NodeAdd", "QueueSkip"): 20_000}
    queue.add(node("m", cpu="8"))
    assert queue.queue.lengths() == {"active": 0, "backoff": 2000, "unschedulable": 18_000, "gated": 0}


def test_events_that_no_rejector_waits_for_ask_nobody():
    queue = Queue(*copies(pod("p"), 100))
    while (popped := queue.queue.pop()) is not None:
        queue.queue.fail(popped.item, ["NodeAffinity"])
    queue.remove(pod("gone").on("n")).change(node("n"), node("n").offer(cpu="9"))
    assert queue.queue.counts.evaluations == 0


LABELS = st.dictionaries(st.sampled_from("ab"), st.sampled_from("12"), max_size=2)


@st.composite
def pods(draw, name):
    item = pod(name, namespace=draw(st.sampled_from(["default", "far"]))).label(draw(LABELS))
    item = item.priority(draw(st.integers(0, 2))).req(cpu=draw(st.sampled_from("126")))
    if draw(st.booleans()):
        item = item.tolerate("k")
    if draw(st.booleans()):
        item = item.select(a=draw(st.sampled_from("12")))
    if draw(st.booleans()):
        item = item.host_port(draw(st.sampled_from([80, 81])))
    if draw(st.booleans()):
        item = item.spread("zone", node_taints=draw(st.sampled_from(["Honor", "Ignore"])))
    if draw(st.booleans()):
        item = getattr(item, draw(st.sampled_from(["affinity", "anti"])))("zone", {"a": "1"})
    if draw(st.booleans()):
        item = item.claim("c") if draw(st.booleans()) else item.ephemeral("c")
    return item


@st.composite
def nodes(draw):
    item = node("n", cpu=draw(st.sampled_from("126")), zone=draw(st.sampled_from([None, "z1", "z2"])))
    item = item.label(draw(LABELS))
    return item.taint("k") if draw(st.booleans()) else item


@st.composite
def changes(draw):
    kind = draw(st.sampled_from(["node", "running", "waiting"]))
    if kind == "node":
        versions = [draw(st.none() | nodes()), draw(nodes())]
    else:
        versions = [draw(pods("changed")), draw(pods("changed"))]
        versions = [item.changed(lambda d: d["metadata"].update(namespace="default")) for item in versions]
        if kind == "running":
            versions = [item.on("n") for item in versions]
        else:
            versions[0] = versions[0].nominated("n")
        versions[0] = draw(st.sampled_from([None, versions[0]]))
    if versions[0] is not None and draw(st.booleans()):
        versions = [versions[0], None]
    return tuple(map(built, versions))


@given(st.data())
def test_asking_groups_is_asking_everybody(data):
    old, new = data.draw(changes())
    store = ObjectStore()
    profiles = profiles_of(None, RELEASES[DEFAULT_KUBE_VERSION], FeatureGates())
    hints = {name: HintMap(profile, store, FeatureGates()) for name, profile in profiles.items()}
    together, alone = QueueCounts(), QueueCounts()
    waiting = UnschedulablePods(hints)
    items = []
    for number in range(data.draw(st.integers(1, 8))):
        name = "changed" if number == 0 and data.draw(st.booleans()) else f"p{number}"
        item = QueuedPod(with_uid(data.draw(pods(name))), 0, number)
        rejectors = data.draw(st.sets(st.sampled_from(sorted(HINT_PLUGINS)), min_size=1, max_size=3))
        item.pending_plugins = data.draw(st.sets(st.sampled_from(sorted(rejectors))))
        item.unschedulable_plugins = rejectors - item.pending_plugins
        if data.draw(st.booleans()):
            item.gating_plugin = data.draw(st.sampled_from(["DefaultPreemption", "DynamicResources"]))
            item.unschedulable_plugins.add(item.gating_plugin)
        items.append(item)
        waiting.put(item)
    store.apply(old, new)
    for happened in occurrences(*map(identified, (old, new))):
        found = Judge(hints, together).woken(waiting, happened)
        assert {item: strategy for item, strategy in found.items() if strategy} == {
            item: strategy for item in items if (strategy := one_by_one(hints, alone, item, happened))
        }
        assert together.hints == alone.hints


def identified(version):
    return with_uid(version) if version is not None and version.kind == "Pod" else version


def one_by_one(hints, counts, item, happened: Occurrence):
    """Ask about one pod what the queue asks about a group."""
    if happened.audience.name == "LOWER_OR_EQUAL" and not happened.offered(item.pod):
        return None
    if item.gated and not hints[item.scheduler].waits(item.gating_plugin, happened.event):
        return None
    return Judge(hints, counts).worth(item, happened)
