import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubestow.instances import documents as documents_room
from kubestow.instances.documents import read_documents
from kubestow.instances.json_text import read_json
from kubestow.models.errors import InputError
from kubestow.models.quantity import SpelledFloat, parse_quantity


def pairs(values):
    """Maps as lists of pairs, so that a key may stand twice."""
    return st.lists(st.tuples(st.sampled_from(["a", "b", '"', "\\", "a:", "{"]), values), max_size=4).map(
        tuple
    )


def written(value):
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{json.dumps(k)} : {written(v)}" for k, v in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def once(items):
    if len(dict(items)) < len(items):
        raise KeyError
    return dict(items)


def documents(text, file="f.yaml"):
    return list(read_documents(file, text if isinstance(text, bytes) else text.encode()))


def test_quotation_marks_blocks_and_tags_make_text():
    text = "a: '12'\nb: \"yes\"\nc: !!str 12\nd: ! 12\ne: |-\n  12\nf: 12\n"
    assert documents(text) == [{**dict.fromkeys("abcde", "12"), "b": "yes", "f": 12}]


def test_numbers_and_truth_values_as_keys_are_their_texts():
    assert documents("1.20: a\n0x10: b\non: c\n'yes': d\n") == [
        {"1.2": "a", "16": "b", "true": "c", "yes": "d"}
    ]


@pytest.mark.parametrize("text", ["0.1", "1e-1", ".5", "1.10", "123456789012345678.25", "1e18"])
def test_a_float_keeps_its_spelling(text):
    value = documents(f"a: {text}")[0]["a"]
    assert type(value) is SpelledFloat
    assert parse_quantity(value) == parse_quantity(text)
    assert repr(value) == text


def test_anchors_and_merge_keys_are_followed():
    text = "base: &b {v: 1, w: 2}\nown: {<<: *b, w: 3}\nmany: {<<: [*b, {v: 9, x: 4}]}\nsame: *b\n"
    (document,) = documents(text)
    assert document["own"] == {"v": 1, "w": 3}
    assert document["many"] == {"v": 1, "w": 2, "x": 4}
    assert document["same"] is document["base"]


def test_documents_come_in_order_and_empty_ones_are_nothing():
    assert documents("# a\n---\n---\na: 1\n---\n# b\n---\nnull\n---\nb: 2\n...\n") == [
        None,
        {"a": 1},
        None,
        None,
        {"b": 2},
    ]


@pytest.mark.parametrize("text", ["", "# only words\n", "\n\n"])
def test_a_file_without_content_has_no_document(text):
    assert documents(text) == []


MARKS = [
    ("utf-8 with a mark", b"\xef\xbb\xbf" + "a: é".encode()),
    ("utf-16, little end first", b"\xff\xfe" + "a: é".encode("utf-16-le")),
    ("utf-16, big end first", b"\xfe\xff" + "a: é".encode("utf-16-be")),
    ("utf-8 without a mark", "a: é".encode()),
]


@pytest.mark.parametrize("content", [row[1] for row in MARKS], ids=[row[0] for row in MARKS])
def test_byte_order_marks_are_understood(content):
    assert documents(content) == [{"a": "é"}]


def test_windows_line_ends_are_understood():
    assert documents(b"a: 1\r\nb:\r\n- x\r\n---\r\nc: |\r\n  two\r\n  lines\r\n") == [
        {"a": 1, "b": ["x"]},
        {"c": "two\nlines\n"},
    ]


SEVERAL = [
    ("pretty ones", '{\n "a": 1\n}\n{\n "b": [2]\n}\n', [{"a": 1}, {"b": [2]}]),
    ("one a line", '{"a": 1}\n{"b": "}{"}\n\n{"c": 0.5}', [{"a": 1}, {"b": "}{"}, {"c": 0.5}]),
    ("without anything between", '{"a": 1}{"b": 1e3}[3]', [{"a": 1}, {"b": 1e3}, [3]]),
    ("with letters of several bytes", '{"é": "é"} {"b": 1}\r\n', [{"é": "é"}, {"b": 1}]),
]


@pytest.mark.parametrize("text, read", [row[1:] for row in SEVERAL], ids=[row[0] for row in SEVERAL])
@pytest.mark.parametrize("file", ["f.json", "-", "f.yaml"])
def test_json_documents_may_follow_each_other(text, read, file):
    assert documents(text, file=file) == read


@pytest.mark.parametrize("file", ["a.json", "a.json.gz", "a.yaml"])
def test_json_documents_may_stand_between_separators_of_yaml(file):
    assert list(read_documents(file, b'{"a": 1}\n---\n{"b": 2}\n')) == [{"a": 1}, {"b": 2}]


def test_json_is_known_by_its_first_character():
    assert documents(' \n{"a": [1, 0.5, null]}', file="-") == [{"a": [1, 0.5, None]}]


DIGITS = "9" * 5000
DEEP = "[" * 2000 + "]" * 2000
BROKEN = [
    ("not a number", '{"a": NaN}', "line 1, column 7: is not JSON: NaN is no number there"),
    ("an infinite number", '{"a":\n -Infinity}', "line 2, column 3: is not JSON: -Infinity is no number"),
    ("an exponent out of range", '{"a": 1e400}', "line 1, column 7: is not JSON: the number 1e400 is out"),
    (
        "thousands of digits",
        f'{{"a": {DIGITS}}}',
        "column 7: is not JSON: the number 9999.*… has 5000",
    ),
    ("nested too deeply", DEEP, "is not JSON: it is nested too deeply"),
    ("a document and a half", '{"a": 1}\n{"a"', "line 2, column 5: is not JSON: it ends too early"),
    ("a document and a word", '{"a": 1} é\n', "line 1, column 10: is not JSON: "),
    (
        "a key twice in a later document",
        '{"é": 1}\n{"b": 2,\n"b": 3}',
        "line 3, column 1: key 'b' stands twice",
    ),
    ("half a character in a later document", '{}\n{"a": "\\ud800"}', "line 2, column 8: is not JSON: "),
    ("half a document", '{"a": [1,\n2', "line 2, column 2: is not JSON: it ends too early"),
    ("half a text", '{"a": "x', "line 1, column 9: is not JSON: it ends too early"),
    ("a comma too many", '{"a": [1,]}', "line 1, column 9: is not JSON: "),
    ("half a character", '{"a": "\\ud800"}', "line 1, column 8: is not JSON: "),
    ("a key twice", '{"a": 1, "b": {"a": 2},\n "a": 3}', "line 2, column 2: key 'a' stands twice in its map"),
    ("a key twice, deep", '[{"a": {"k": 1, "k": 1}}]', "line 1, column 17: key 'k' stands twice in its"),
    ("a key twice, in two spellings", '{"k": 1, "\\u006b" : 1}', "line 1, column 10: key 'k' stands twice"),
]


@pytest.mark.parametrize("text, complaint", [row[1:] for row in BROKEN], ids=[row[0] for row in BROKEN])
def test_a_fault_in_json_says_where_and_what(text, complaint):
    with pytest.raises(InputError, match=f"f.json: .*{complaint}") as caught:
        documents(text, file="f.json")
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("text, words", [('{"a": [1', "JSON"), (DEEP, "JSON"), ("{a: [1, b: }", "YAML")])
def test_what_is_neither_json_nor_yaml_is_told_as_what_it_looks_like(text, words):
    with pytest.raises(InputError, match=f"-: line 1.*: is not {words}: "):
        documents(text, file="-")


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "\\"b\\": 1, \\"b\\": 2"}',
        '{"a\\\\" : 1, "b" :2}',
        '{"a": "{", "b": {"a": "}"}, "c": [{"a": 1}, {"a": 2}]}',
        "[" * 900 + "]" * 900,
    ],
    ids=[
        "a text that holds JSON",
        "a key that ends in a backslash",
        "braces in texts",
        "deep, but not too deep",
    ],
)
def test_what_only_looks_like_a_key_twice_is_none(text):
    assert documents(text, file="f.json") == [json.loads(text)]


@settings(max_examples=200)
@given(st.recursive(st.text(max_size=4) | st.integers(-9, 9), lambda inner: st.lists(inner) | pairs(inner)))
def test_a_key_is_told_to_stand_twice_where_it_does(value):
    text = written(value)
    try:
        json.loads(text, object_pairs_hook=once)
    except KeyError:
        with pytest.raises(InputError, match="stands twice in its map"):
            read_json("f", text.encode())
    else:
        assert read_json("f", text.encode()) == json.loads(text)


def test_a_yaml_file_may_begin_like_json():
    assert documents("{a: 1, b: [x]}\n---\n{c: 2}\n") == [{"a": 1, "b": ["x"]}, {"c": 2}]


@pytest.mark.parametrize(
    "text",
    [
        "a: .inf",
        "~: a",
        "a: [",
        "a: b: c",
        "a: *missing",
        "a: !!int x",
        "? [1]\n: a",
        "a: {<<: 3}",
        "\x00",
        "a: !!float x",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_what_is_not_yaml_is_one_line_that_names_the_file(text):
    with pytest.raises(InputError) as caught:
        documents(text)
    message = str(caught.value)
    assert message.startswith("f.yaml: ")
    assert "is not YAML" in message
    assert "\n" not in message


def test_deep_nesting_is_an_error_and_no_crash():
    with pytest.raises(InputError, match="nested too deeply"):
        documents("a: " + "[" * 900 + "]" * 900)


def test_gzip_is_not_this_modules_business():
    with pytest.raises(InputError, match="is not text"):
        documents(gzip.compress(b"a: 1"))


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1 << 20])
def test_text_is_looked_at_in_pieces_of_any_length(piece, monkeypatch):
    monkeypatch.setattr(documents_room, "_PIECE", piece)
    words = "zoë – 日本 🚀"
    assert documents(json.dumps({"a": words}, ensure_ascii=False)) == [{"a": words}]


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 1 << 20])
@pytest.mark.parametrize(
    "end", [b"\xff", b"\xc3", b"\xf0\x9f\x9a"], ids=["no letter", "half of one", "most of one"]
)
def test_what_is_no_text_is_told_with_its_place(end, piece, monkeypatch):
    monkeypatch.setattr(documents_room, "_PIECE", piece)
    with pytest.raises(InputError, match=r"^f\.yaml: is not text in UTF-8: byte 10 cannot be read$"):
        documents("a: zoë 🚀".encode()[:-4] + b"##" + end)
