"""A cluster is fetched whole, page by page, whatever goes wrong on the way."""

import re
from datetime import UTC, datetime

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fake_cluster import (
    FakeCluster,
    broken,
    busy,
    cut,
    fine,
    forgotten,
    moved,
    raw_objects,
    serving,
)
from support.paths import ROOT

from kubestow.instances import catalogue
from kubestow.instances.live import pages, proxy
from kubestow.instances.live.client import LONGEST_WAIT, TRIES, Client
from kubestow.instances.live.discovery import ASKED
from kubestow.instances.live.fetch import Fetch
from kubestow.instances.manifests import load_snapshot, snapshot_of
from kubestow.models.errors import KubestowError

NAME = "zone-spread-dead-end"
PODS = "pods"


class Fetched:
    """One fetch from a fake cluster: its objects by kind and name, what was said, how long was waited."""

    def __init__(self, cluster, namespace=""):
        self.waits = []
        self.progress = []
        client = Client(cluster.connect, self.waits.append)
        self.fetch = Fetch(client, namespace, lambda *told: self.progress.append(told))
        try:
            self.objects = list(self.fetch.objects())
        finally:
            client.close()

    @property
    def names(self):
        return [(item["kind"], item["metadata"]["name"]) for item in self.objects[:-1]]


def bundled(name=NAME, **more):
    return FakeCluster(raw_objects(catalogue.path(name)), **more)


@pytest.fixture
def small_pages(monkeypatch):
    """Three objects a page, so that small lists have several."""
    monkeypatch.setattr(pages, "LIMIT", 3)


def fields_of(snapshot):
    return {name: value for name, value in vars(snapshot).items() if name not in ("name", "now")}


@pytest.mark.parametrize("name", catalogue.names()[::5])
def test_a_cluster_is_read_as_the_file_that_it_was_made_from(name):
    with serving(bundled(name)) as cluster:
        objects = Fetched(cluster).objects
    live, file = snapshot_of(objects), load_snapshot(catalogue.path(name))
    for field, value in fields_of(file).items():
        found = getattr(live, field)
        if isinstance(value, tuple) and value and hasattr(value[0], "key"):
            found, value = ({item.key: plain(item) for item in side} for side in (found, value))
        if field not in ("configuration", "ignored"):  # what no API server has
            assert found == value


def plain(item):
    return item.model_copy(update={"metadata": item.metadata.model_copy(update={"annotations": {}})})


def test_what_plays_no_part_is_not_kept():
    with serving(bundled()) as cluster:
        text = str(Fetched(cluster).objects)
    assert "noise" not in text
    assert "managedFields" not in text


def test_every_page_is_told():
    with serving(bundled()) as cluster:
        fetched = Fetched(cluster)
    lists = [(f"listing {item.resource}, page 1: objects",) for item in ASKED]
    assert [told[:1] for told in fetched.progress] == [("asking the cluster what it serves",), *lists]
    assert sum(told[1] for told in fetched.progress[1:]) == len(fetched.names)


def test_a_list_comes_in_pages(small_pages):
    with serving(bundled()) as cluster:
        fetched = Fetched(cluster)
        asked = cluster.lists(PODS)
    pods = sum(kind == "Pod" for kind, _ in fetched.names)
    assert len(asked) == -(-pods // 3) > 2
    assert all("limit=3" in path for path in asked)
    assert all("continue=" in path for path in asked[1:])


def test_nothing_is_asked_but_discovery_and_lists_of_what_is_read():
    with serving(bundled()) as cluster:
        Fetched(cluster)
        requests = cluster.requests
    resources = {item.resource for item in ASKED}
    lists = [path for _, path, _ in requests if "?" in path]
    assert {method for method, _, _ in requests} == {"GET"}
    assert {path.partition("?")[0].rpartition("/")[2] for path in lists} == resources
    assert "secrets" not in resources
    assert all(re.fullmatch(r"/apis|/api/v1|/apis/[^/]+/v[^/]+", p) for _, p, _ in requests if p not in lists)


WHOLE = [
    pytest.param([busy("7")], [7.0], "", id="A busy server is asked again after as long as it says"),
    pytest.param([busy()], [0.2], "", id="A busy server that does not say how long is asked again soon"),
    pytest.param([busy("86400")], [LONGEST_WAIT], "", id="No server makes us wait for a day"),
    pytest.param([busy("soon")], [0.2], "", id="A time that is no number is none"),
    pytest.param([cut], [0.2], "", id="A first page that is cut off is asked for again"),
    pytest.param([fine, cut, cut], [0.2, 0.4], "", id="A later page that is cut off twice, too"),
    pytest.param(
        [fine, forgotten("3:")],
        [],
        "parts are of different moments",
        id="A forgotten list goes on with the token that the server offers",
    ),
    pytest.param(
        [fine, fine, forgotten()],
        [],
        "parts are of different moments",
        id="A forgotten list without a token is begun anew and each object comes once",
    ),
]


@pytest.mark.parametrize("faults, waits, note", WHOLE)
def test_the_list_is_whole(small_pages, faults, waits, note):
    with serving(bundled()) as cluster:
        expected = Fetched(cluster).names
        cluster.faults[PODS] += faults
        fetched = Fetched(cluster)
        assert not cluster.faults[PODS]
    assert fetched.names == expected
    assert fetched.waits == waits
    assert [note in line for line in fetched.fetch.notes] == ([True] if note else [])


def lost(handler):
    """A list that was begun is forgotten altogether."""
    return "continue=" in handler.path and forgotten()(handler)


@settings(max_examples=8)
@given(st.lists(st.sampled_from([fine, cut, busy(), moved, lost]), max_size=8))
def test_whatever_goes_wrong_a_list_is_whole_or_an_error(faults):
    with pytest.MonkeyPatch.context() as patch, serving(bundled()) as cluster:
        patch.setattr(pages, "LIMIT", 3)
        expected = Fetched(cluster).names
        cluster.faults[PODS] += faults
        try:
            found = Fetched(cluster).names
        except KubestowError:
            assert len(faults) > 4
        else:
            assert found == expected


def sending(items, token=""):
    """What is sent as the items of a page, and the token for the next one."""

    def fault(handler):
        handler.answer({"metadata": {"continue": token}, "items": items})
        return True

    return fault


def counting(handler):
    """A server that always has one more page, and nothing in it."""
    place = int(handler.path.partition("continue=")[2] or 0)
    return sending([], str(place + 1))(handler)


HOPELESS = [
    pytest.param([busy("1")] * TRIES, "does not answer .* after 6 tries: too many", id="A server stays busy"),
    pytest.param([cut] * TRIES, "does not answer .* the connection was lost", id="A page is always cut off"),
    pytest.param([fine, *[forgotten()] * 5], "forgot the list 5 times", id="A list is always forgotten"),
    pytest.param(
        [sending(["x", 3])],
        r"/pods: page 1: items\[0\] must be an object",
        id="A list has what is no object",
    ),
    pytest.param(
        [fine, sending([{"metadata": {"name": "p"}}, None])],
        r"/pods: page 2: items\[1\] must be an object",
        id="A later page has what is no object",
    ),
    pytest.param([sending("xyz")], "/pods: page 1: items must be a list", id="The items are no list"),
    pytest.param(
        [sending([{"metadata": {"name": f"p-{n}"}}], "7") for n in range(9)],
        "/pods: the list has no end: page 2 leads back",
        id="A server repeats a token",
    ),
    pytest.param([counting] * 500, "/pods: the list has no end", id="A server counts for ever"),
    pytest.param([broken], "no API server: it sent no JSON", id="What answers is something else"),
]


@pytest.mark.parametrize("faults, words", HOPELESS)
def test_the_end_is_one_clear_line(small_pages, monkeypatch, faults, words):
    monkeypatch.setattr(pages, "_BEGINNINGS", 5)
    cluster = bundled()
    if "forgot" in words:  # every beginning gets a first page
        faults = [fine, forgotten()] * 5
    cluster.faults[PODS] += faults
    with serving(cluster), pytest.raises(KubestowError, match=words):
        Fetched(cluster)


def test_a_kind_that_is_not_served_is_left_out():
    cluster = bundled()
    cluster.unserved |= {"PodGroup", "Workload", "CompositePodGroup", "DeviceTaintRule"}
    with serving(cluster):
        fetched = Fetched(cluster)
    assert fetched.fetch.unserved == ["Workload", "PodGroup", "CompositePodGroup", "DeviceTaintRule"]
    assert fetched.fetch.notes == []


@pytest.mark.parametrize("kind", ["Node", "Pod"])
def test_what_serves_no_nodes_or_pods_is_no_cluster(kind):
    cluster = bundled()
    cluster.unserved.add(kind)
    with serving(cluster), pytest.raises(KubestowError, match="what answers is no cluster"):
        Fetched(cluster)


def test_an_early_version_is_asked_for_where_there_is_no_other():
    cluster = bundled()
    cluster.versions["PodGroup"] = "scheduling.k8s.io/v1alpha2"
    with serving(cluster):
        Fetched(cluster)
    assert cluster.lists("podgroups") == ["/apis/scheduling.k8s.io/v1alpha2/podgroups?limit=500"]


ROLE = yaml.safe_load(
    re.search(r"```yaml\n(.*?)```", (ROOT / "docs/live.md").read_text(encoding="utf-8"), re.DOTALL)[1]
)


def test_the_role_of_the_docs_is_what_is_asked_for():
    granted = [
        (group, name) for rule in ROLE["rules"] for group in rule["apiGroups"] for name in rule["resources"]
    ]
    assert sorted(granted) == sorted((item.group, item.resource) for item in ASKED)
    assert all(rule["verbs"] == ["list"] for rule in ROLE["rules"])


def test_the_role_of_the_docs_is_enough():
    with serving(bundled(rules=ROLE["rules"])) as cluster:
        fetched = Fetched(cluster)
    assert fetched.fetch.notes == []
    assert fetched.fetch.forbidden == []


def without(resource):
    return [{**rule, "resources": [r for r in rule["resources"] if r != resource]} for rule in ROLE["rules"]]


def test_a_kind_that_may_not_be_listed_is_noted_and_the_note_stays_with_the_snapshot():
    with serving(bundled(rules=without("poddisruptionbudgets"))) as cluster:
        fetched = Fetched(cluster)
    [note] = snapshot_of(fetched.objects).notes
    assert note.startswith(
        "the user of kubectl may not list poddisruptionbudgets.policy, so the snapshot has none"
    )
    assert "verb list is needed" in note
    assert fetched.fetch.forbidden == ["poddisruptionbudgets.policy"]


@pytest.mark.parametrize("resource", ["nodes", "pods"])
def test_there_is_no_snapshot_without_nodes_or_pods(resource):
    words = f"may not list {resource}: verb list is needed on {resource} .docs/live.md has the ClusterRole"
    with serving(bundled(rules=without(resource))) as cluster, pytest.raises(KubestowError, match=words):
        Fetched(cluster)


def test_one_namespace_alone_is_noted():
    with serving(bundled()) as cluster:
        fetched = Fetched(cluster, "shop")
        assert cluster.lists(PODS) == ["/api/v1/namespaces/shop/pods?limit=500"]
        assert cluster.lists("nodes") == ["/api/v1/nodes?limit=500"]
    assert "only objects of one namespace" in fetched.fetch.notes[0]


def test_the_time_of_the_round_is_that_of_the_server():
    with serving(bundled()) as cluster:
        before = datetime.now(UTC).replace(microsecond=0)
        fetched = Fetched(cluster)
    assert before <= snapshot_of(fetched.objects).now <= datetime.now(UTC)


def test_wrong_credentials_are_told():
    with serving(bundled(token="right")) as cluster, pytest.raises(KubestowError, match="does not accept"):
        Fetched(cluster)


SECRET = "eyJhbGciOi.J9-_x/y+z="


@pytest.mark.parametrize(
    "words, told",
    [
        pytest.param(
            f"bad token Bearer {SECRET} here", "bad token Bearer … here", id="A header in a sentence"
        ),
        pytest.param(f"authorization: bearer {SECRET}", "authorization: bearer …", id="In lower case"),
        pytest.param(
            f"map[Authorization:[Bearer {SECRET}]]", "map[Authorization:[Bearer …", id="As Go prints it"
        ),
        pytest.param(f"Basic {SECRET}", "Basic …", id="A password"),
        pytest.param("invalid bearer token, no such key", "invalid bearer token, no such key", id="No token"),
    ],
)
@pytest.mark.parametrize("status", [401, 403, 503])
def test_credentials_that_a_server_repeats_are_left_out(words, told, status):
    def repeating(handler):
        handler.refuse(status, "Refused", words)
        return True

    cluster = bundled()
    cluster.faults[PODS] += [repeating] * TRIES
    with serving(cluster), pytest.raises(KubestowError) as caught:
        Fetched(cluster)
    assert SECRET not in str(caught.value)
    assert status == 403 or str(caught.value).endswith(told)


@pytest.mark.parametrize(
    "line, own",
    [
        pytest.param(
            "2026/11/28 23:28:12 httputil: ReverseProxy read error during body copy: unexpected EOF",
            True,
            id="A copy that breaks off",
        ),
        pytest.param("2026/11/28 23:28:12 http: proxy error: EOF", True, id="A server that is gone"),
        pytest.param("E1128 23:28:12.000000   12 proxy.go:77] gone", True, id="A line of its log"),
        pytest.param("error: no such context", True, id="An error"),
        pytest.param("2026/11/28 23:28:12 please look at your browser", False, id="A plugin that has a log"),
        pytest.param("please look at your browser", False, id="A plugin that asks"),
    ],
)
def test_what_kubectl_says_of_itself_is_not_passed_on(line, own):
    assert bool(proxy._OWN_WORDS.match(line)) == own  # noqa: SLF001
