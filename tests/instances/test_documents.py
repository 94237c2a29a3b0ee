import gzip

import pytest

from kubestow.instances.documents import read_documents
from kubestow.models.errors import InputError
from kubestow.models.quantity import SpelledFloat, parse_quantity


def documents(text, file="f.yaml"):
    return list(read_documents(file, text if isinstance(text, bytes) else text.encode()))


VALUES = [
    ("a time is text", "2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z"),
    ("a date is text", "2026-03-01", "2026-03-01"),
    ("a time of day is text", "12:30:45", "12:30:45"),
    ("an address with a port is text", "10.0.0.1:80", "10.0.0.1:80"),
    ("a version is text", "1.2.3", "1.2.3"),
    ("a whole number", "12", 12),
    ("a signed number", "-3", -3),
    ("an octal number, old", "0644", 420),
    ("an octal number, new", "0o644", 420),
    ("a hexadecimal number", "0x1F", 31),
    ("a number with underscores", "1_000", 1000),
    ("a float that is whole", "1.0", 1),
    ("an exponent without a point is a number", "1e3", 1000),
    ("yes is true", "yes", True),
    ("off is false", "Off", False),
    ("nothing is null", "", None),
    ("a tilde is null", "~", None),
    ("a quoted number is text", "'12'", "12"),
    ("a quoted yes is text", '"yes"', "yes"),
    ("an explicit text", "!!str 12", "12"),
]


@pytest.mark.parametrize("text, value", [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_plain_values_mean_what_kubectl_takes_them_for(text, value):
    ((key, read),) = documents(f"a: {text}")[0].items()
    assert key == "a"
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("text", ["0.1", "1e-1", ".5", "1.10", "123456789012345678.25", "1e18", "1e400"])
def test_a_float_keeps_its_spelling(text):
    value = documents(f"a: {text}")[0]["a"]
    assert type(value) is SpelledFloat
    assert parse_quantity(value) == parse_quantity(text)
    assert repr(value) == text


def test_anchors_and_merge_keys_are_followed():
    text = "base: &b {x: 1, y: 2}\nown: {<<: *b, y: 3}\nmany: {<<: [*b, {x: 9, z: 4}]}\nsame: *b\n"
    (document,) = documents(text)
    assert document["own"] == {"x": 1, "y": 3}
    assert document["many"] == {"x": 1, "y": 2, "z": 4}
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


def test_json_is_known_by_its_first_character():
    assert documents(' \n{"a": [1, 0.5, null]}', file="-") == [{"a": [1, 0.5, None]}]


def test_a_yaml_file_may_begin_like_json():
    assert documents("{a: 1, b: [x]}\n---\n{c: 2}\n") == [{"a": 1, "b": ["x"]}, {"c": 2}]


@pytest.mark.parametrize(
    "text",
    ["a: [", "a: b: c", "a: *missing", "a: !!int x", "? [1]\n: a", "a: {<<: 3}", "\x00", "a: !!float x"],
    ids=repr,
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
