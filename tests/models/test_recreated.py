"""Pods as their controllers make them again."""

from support.builders import NOW, cluster, pod
from support.devices import claim as device_claim
from support.devices import template, user
from support.storage import claim as volume_claim

from kubestow.models.recreated import recreated, with_replacements

RUNNING = (
    pod("p")
    .label(app="web")
    .owned()
    .req(cpu="1")
    .priority(7)
    .claim("data")
    .on("a")
    .started(9)
    .created(9)
    .nominated("b")
)


def test_the_new_pod_asks_for_what_the_old_one_did_and_has_no_node():
    old = RUNNING.build()
    new = recreated(old, "q", NOW)
    assert new.spec == old.spec.model_copy(update={"node_name": None})
    assert new.metadata.labels == old.metadata.labels
    assert new.metadata.owner_references == old.metadata.owner_references
    assert (new.key, new.metadata.creation_timestamp) == ("default/q", NOW)
    assert (new.status.phase, new.status.nominated_node_name, new.status.start_time) == (
        "Pending",
        None,
        None,
    )


def test_replacements_come_last_and_under_free_names():
    before = cluster(RUNNING, pod("p-moved").on("a"), pod("q").on("a"), RUNNING.named("r"))
    after = with_replacements(before, {"default/r", "default/p"})
    assert [item.name for item in after.snapshot.pods] == ["p", "p-moved", "q", "r", "p-moved-2", "r-moved"]
    assert after.replacement == {"default/p": "default/p-moved-2", "default/r": "default/r-moved"}


def test_a_claim_of_devices_that_was_made_for_the_pod_is_made_anew():
    old = user("p", "ours", made=[("e", "p-gpu"), ("n",)]).on("a")
    mine = device_claim("p-gpu", owner="p", has=[("r", "pool", "d")], at="a", users=["p"])
    before = cluster(old, template("t"), mine, device_claim("ours"))
    after = with_replacements(before, {"default/p"}).snapshot
    [_, new] = after.pods
    assert [item.name for item in after.resource_claims] == ["p-gpu", "ours", "p-moved-e"]
    made = after.resource_claims[-1]
    assert made.spec == mine.spec
    assert made.status.allocation is None
    assert not made.status.reserved_for
    assert made.metadata.controller.uid == new.metadata.uid
    assert [(s.name, s.resource_claim_name) for s in new.status.resource_claim_statuses] == [
        ("e", "p-moved-e")
    ]


def test_a_claim_that_the_pod_does_not_need_is_still_not_needed():
    old = user("p", made=[("e", None)]).on("a")
    [_, new] = with_replacements(cluster(old, template("t")), {"default/p"}).snapshot.pods
    assert new.status.resource_claim_statuses == old.build().status.resource_claim_statuses


def test_an_ephemeral_volume_is_made_anew_and_a_claim_by_name_is_kept():
    old = pod("p").claim("data").ephemeral("scratch").on("a")
    old = old.changed(lambda doc: doc["metadata"].update(uid="u"))
    own = volume_claim("p-scratch", owner="u", to="v1", selected="a")
    after = with_replacements(cluster(old, own, volume_claim("data")), {"default/p"}).snapshot
    assert [item.name for item in after.persistent_volume_claims] == [
        "p-scratch",
        "data",
        "p-moved-scratch",
    ]
    made = after.persistent_volume_claims[-1]
    assert made.spec == own.spec.model_copy(update={"volume_name": None})
    assert not made.metadata.annotations
    assert made.metadata.controller.uid == after.pods[-1].metadata.uid
