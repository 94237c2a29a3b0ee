"""Long lists read in slices are what they are read whole, and their faults are told as ever."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kubestow.instances import json_lists, json_text, objects
from kubestow.instances.json_lists import Items, read_long_list
from kubestow.instances.manifests import parse_snapshot
from kubestow.models.errors import InputError

PODS = [
    {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"p{k}", "uid": f"u{k}", "labels": {"a": "},{ ]", "b": 'é\\": '}},
        "spec": {"containers": [{"name": "c", "env": [{"name": "x", "value": '"k": 1'}]}, {"name": "d"}]},
    }
    for k in range(40)
]
DUMP = {"apiVersion": "v1", "items": PODS, "kind": "List", "metadata": {"resourceVersion": ""}}
SERVED = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7"}, "items": PODS}


@pytest.fixture(autouse=True)
def _short_slices(monkeypatch):
    monkeypatch.setattr(json_lists, "_SLICE", 300)
    monkeypatch.setattr(json_text, "LONG", 0)


def sliced(text):
    content = text.encode()
    document = read_long_list(content, 0, len(content))
    if document is None:
        return None
    items = list(document["items"])
    assert len(document["items"]) == len(items)
    return {**document, "items": items}


def test_a_watch_hears_how_many_objects_there_are(monkeypatch):
    monkeypatch.setattr(objects, "OBJECTS_UNHEARD", 16)
    heard = []
    content = json.dumps(DUMP).encode()
    parse_snapshot([("f.json", content)], name="f.json", watch=lambda *step: heard.append(step))
    assert [step for step in heard if step[0] == "validating: objects"][:2] == [
        ("validating: objects", 16, 40),
        ("validating: objects", 32, 40),
    ]


@pytest.mark.parametrize("dump", [DUMP, SERVED], ids=["as kubectl prints it", "as the API serves it"])
@pytest.mark.parametrize(
    "layout, several",
    [
        pytest.param({"indent": 4}, True, id="four blanks a level"),
        pytest.param({"indent": "\t"}, True, id="tabs"),
        pytest.param({"separators": (",", ":")}, True, id="no blanks at all"),
        pytest.param({"sort_keys": True, "indent": 1}, True, id="keys in order"),
        pytest.param({"separators": (" , ", " : "), "ensure_ascii": False}, False, id="blanks everywhere"),
    ],
)
def test_a_list_in_slices_is_the_list(dump, layout, several):
    content = json.dumps(dump, **layout).encode()
    document = read_long_list(content, 0, len(content))
    assert {**document, "items": list(document["items"])} == dump
    assert (document["items"].slices > 3) == several


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"metadata": {"items": [{"a": 1}]}, "items": []}', id="items of a part of it"),
        pytest.param(
            '{"kind": "List", "items": [{"a": 1}, {"a": 2}], "kind": "List"}', id="a key of it stands twice"
        ),
        pytest.param('{"items": [{"a": 1}], "items": [{"a": 2}]}', id="items stand twice"),
        pytest.param('{"items": [{"a": 1, "b": {"c": 1, "c": 2}}]}', id="a key of an item stands twice"),
        pytest.param(
            '{"items": [{"a": 1, "\\u0061": 2}]}', id="a key stands twice, once in another spelling"
        ),
        pytest.param(
            '{"items": [{"a": 1, "a" : "\\u003a"}]}', id="a colon that is an escape makes up for a lost key"
        ),
        pytest.param('{"items": [{"a": 1} {"a": 2}]}', id="a comma is missing"),
        pytest.param('{"items": [{"a": 1}, ]}', id="a comma too many"),
        pytest.param('{"items": [{"a": 1}]', id="it ends too early"),
        pytest.param('{"items": [{"a": 1}]} {}', id="something follows"),
        pytest.param('{"items": [{"a": NaN}]}', id="a word that is no number"),
        pytest.param('{"items": {"a": [1]}}', id="items are no list"),
        pytest.param('[{"a": 1}]', id="a bare list"),
    ],
)
def test_what_is_no_such_list_is_left_to_the_reader_of_documents(text):
    assert sliced(text) is None


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(
        st.dictionaries(
            st.sampled_from(["kind", "a", "items"]),
            st.recursive(
                st.sampled_from(["", "},{", "}, {", '"a":', "]", "\\", 1, None]),
                lambda inner: (
                    st.lists(inner, max_size=3)
                    | st.dictionaries(st.sampled_from(["kind", "a", '":{']), inner, max_size=3)
                ),
                max_leaves=6,
            ),
            min_size=1,
        ),
        min_size=1,
        max_size=12,
    ),
    indent=st.sampled_from([None, 0, 2]),
    step=st.integers(1, 60),
)
@example(items=[{"kind": [{"kind": 1}, {"kind": 2}]}, {"kind": 3}], indent=None, step=1)
def test_any_list_in_slices_is_the_list(items, indent, step):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_lists, "_SLICE", step)
        assert sliced(json.dumps({"kind": "List", "items": items}, indent=indent)) == {
            "kind": "List",
            "items": items,
        }


def pods(*contents, file="f.json"):
    return parse_snapshot([(file, content.encode()) for content in contents], name="n").pods


def test_several_dumps_in_one_file_are_read_in_slices(monkeypatch):
    one = json.dumps({**DUMP, "items": PODS[:20]}, indent=4)
    other = json.dumps({**DUMP, "items": PODS[20:]}, indent=4)
    whole = pods(json.dumps(DUMP))
    lists = []
    monkeypatch.setattr(
        json_text, "read_long_list", lambda *given: lists.append(read_long_list(*given)) or lists[-1]
    )
    assert pods(f"{one}\n{other}\n") == whole
    assert [type(each["items"]) for each in lists] == [Items, Items]


@pytest.mark.parametrize(
    "text, words",
    [
        pytest.param(
            json.dumps(DUMP, indent=4).replace('"u7"', '"u7",, '),
            "line 205, column 29: is not JSON",
            id="a fault of the text is told with its line in the file",
        ),
        pytest.param(
            json.dumps(DUMP, indent=4).replace('"uid": "u7"', '"uid": "u7", "uid": "u8"'),
            "key 'uid' stands twice in its map",
            id="a key that stands twice is told",
        ),
        pytest.param(
            json.dumps(DUMP, indent=4).replace('"name": "p9"', '"name": 9'),
            "f.json: Pod default/9: metadata.name: must be text (in quotes), not 9",
            id="a fault of an object is told with its name",
        ),
        pytest.param(
            json.dumps({**DUMP, "items": [*PODS, 3]}),
            "f.json: document 1 items[40]: is no Kubernetes object",
            id="what is no object is told with its place",
        ),
        pytest.param(
            json.dumps({**DUMP, "items": [*PODS, {**PODS[0], "spec": PODS[0]["spec"] | {"nodeName": "n"}}]}),
            "stands at document 1 items[40] and, with other content, in f.json document 1 items[0]",
            id="two objects of one name are told with their places",
        ),
    ],
)
def test_faults_in_a_long_list(text, words):
    with pytest.raises(InputError) as told:
        pods(text)
    assert words in str(told.value)
