"""Plain scalars mean what kubectl's YAML library takes them for."""

import json
import math
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from support.paths import DATA

from kubestow.instances.documents import read_documents
from kubestow.instances.scalars import key, plain, tagged

DATA = DATA
TEXTS = json.loads((DATA / "scalars.json").read_text())
WRITTEN = (DATA / "scalars.yaml").read_bytes()


def test_what_kubectl_printed_is_what_the_api_server_holds():
    (pod,) = read_documents("scalars.yaml", WRITTEN)
    assert pod["metadata"]["annotations"] == TEXTS


def test_what_kubectl_quoted_is_no_text_without_its_quotes_and_all_else_is():
    (pod,) = yaml.compose_all(WRITTEN, Loader=yaml.CSafeLoader)
    ((_, annotations),) = (
        pair
        for name, metadata in pod.value
        if name.value == "metadata"
        for pair in metadata.value
        if pair[0].value == "annotations"
    )
    unlike = []
    for name, value in annotations.value:
        text = TEXTS[name.value]
        # A number with colons is quoted for the sake of other libraries, and so is what cannot be printed.
        # The letters y and n alone are text here, with quotation marks or without.
        if (
            text.isprintable()
            and ":" not in text
            and text not in [*"yYnN"]
            and is_text(text) == (value.style == '"')
        ):
            unlike.append(text)
    assert unlike == []


def is_text(text):
    """Whether a text without quotation marks stays text for a library that has times."""
    try:
        return plain(text) == text and re.fullmatch(r"[0-9]{4}(-[0-9]{1,2}){2}", text) is None
    except ValueError:
        return False


MOST = 2**64 - 1
VALUES = [
    ("a time is text", "2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z"),
    ("a date is text", "2026-03-01", "2026-03-01"),
    ("a time of day is text", "12:30:45", "12:30:45"),
    ("an address with a port is text", "10.0.0.1:80", "10.0.0.1:80"),
    ("a version is text", "1.2.3", "1.2.3"),
    ("a whole number", "12", 12),
    ("a signed number", "-3", -3),
    ("a number with a plus", "+3", 3),
    ("a number with underscores", "1_000", 1000),
    ("underscores at the end, too", "1__", 1),
    ("an underscore first makes text", "_1", "_1"),
    ("underscores alone are text", "-_", "-_"),
    ("an octal number, old", "0644", 420),
    ("an octal number, new", "0o644", 420),
    ("an octal number, new, in capitals", "0O17", 15),
    ("an octal number that has an eight is decimal", "089", 89),
    ("a hexadecimal number", "0x1F", 31),
    ("a hexadecimal number in capitals with a sign", "-0XfF", -255),
    ("a binary number", "-0b101", -5),
    ("a binary number with its sign inside", "0b-101", -5),
    ("a prefix alone is text", "0x", "0x"),
    ("a prefix and underscores are text", "0x_", "0x_"),
    ("the largest number of 64 bits", str(MOST), MOST),
    ("the largest one with a plus is text in hexadecimal", "+0xffffffffffffffff", "+0xffffffffffffffff"),
    ("one more in hexadecimal is text", "0x10000000000000000", "0x10000000000000000"),
    ("one more in octal with the new prefix is text", f"0o2{'0' * 21}", f"0o2{'0' * 21}"),
    ("one more in octal with the old prefix is a decimal float", f"02{'0' * 21}", f"2{'0' * 21}"),
    ("one more in decimal is a float", str(MOST + 1), str(MOST + 1)),
    ("a float that is whole", "1.0", 1),
    ("a point at the end", "1.", 1),
    ("an exponent without a point is a number", "1e3", 1000),
    ("an exponent that no double holds is text", "123e4567", "123e4567"),
    ("digits that no double holds are text", "9" * 400, "9" * 400),
    ("thousands of digits are text", "9" * 9000, "9" * 9000),
    ("an exponent that comes to nothing is zero", "1e-999", 0),
    ("an exponent without digits is text", "1e", "1e"),
    ("an exponent with a point is text", "1e2.5", "1e2.5"),
    ("underscores between the digits after a point", ".2_5e0_1", "2.5"),
    ("underscores after a point that comes first are text", "._5", "._5"),
    ("underscores at the end after a point that comes first are text", ".5_", ".5_"),
    ("underscores after a digit and a point", "0._5", "0.5"),
    ("yes is true", "yes", True),
    ("y alone is text, which kubectl itself would quote", "y", "y"),
    ("off is false", "Off", False),
    ("N alone is text", "N", "N"),
    ("an odd mixture of capitals is text", "yEs", "yEs"),
    ("nothing is null", "", None),
    ("a tilde is null", "~", None),
    ("an odd null is text", "nULL", "nULL"),
    ("infinity as others write it is text", "inf", "inf"),
    ("an equals sign is text", "=", "="),
    ("digits of another script are text", "٣", "٣"),
]


@pytest.mark.parametrize("text, value", [row[1:] for row in VALUES], ids=[row[0] for row in VALUES])
def test_plain_values_mean_what_kubectl_takes_them_for(text, value):
    read = plain(text)
    if isinstance(read, float):
        assert float(read) == float(value)
    else:
        assert read == value
        assert type(read) is type(value)


@pytest.mark.parametrize("text", [".inf", "-.Inf", "+.INF", ".nan"])
def test_what_json_cannot_say_is_an_error(text):
    with pytest.raises(ValueError, match="no number that JSON has"):
        plain(text)


@given(st.text("0123456789_.+-eExXoObB", max_size=12))
def test_whatever_is_made_of_digits_is_a_finite_number_or_the_text_itself(text):
    value = plain(text)
    if isinstance(value, str):
        assert value == text
    elif text:
        assert math.isfinite(value)
        # Python reads most of them alike, once the spellings that only Go has are set aside.
        spelled = text.replace("_", "").lower()
        if not any(letter in spelled for letter in "xob") and spelled.lstrip("+-0")[:1] not in ("", "."):
            assert float(spelled) == float(value) or spelled.lstrip("+-").startswith("0")


TAGGED = [
    ("text", "str", "12", "12"),
    ("a number in quotation marks", "int", "12", 12),
    ("a whole number as a float", "float", "12", 12),
    ("a truth value", "bool", "on", True),
    ("nothing", "null", "", None),
    ("a time", "timestamp", "2026-03-01", "2026-03-01"),
    ("bytes", "binary", "w6k=", "é"),
    ("a kind that there is not", "colour", "12", "12"),
]


@pytest.mark.parametrize("tag, text, value", [row[1:] for row in TAGGED], ids=[row[0] for row in TAGGED])
def test_a_tag_says_what_a_scalar_is(tag, text, value):
    assert tagged(f"tag:yaml.org,2002:{tag}", text) == value


@pytest.mark.parametrize(
    "tag, text", [("int", "x"), ("int", "yes"), ("int", "1.5"), ("float", "x"), ("bool", "1"), ("null", "x")]
)
def test_a_tag_that_does_not_fit_is_an_error(tag, text):
    with pytest.raises(ValueError, match=f"as !!{tag} says"):
        tagged(f"tag:yaml.org,2002:{tag}", text)


@pytest.mark.parametrize("text", ["?", "gIGC", "w6k"])
def test_bytes_that_are_no_text_are_an_error(text):
    with pytest.raises(ValueError, match="base64"):
        tagged("tag:yaml.org,2002:binary", text)


KEYS = [
    ("text is itself", "app", "app"),
    ("a whole number in decimal", "0x10", "16"),
    ("a truth value in JSON's word", "on", "true"),
    ("the other truth value", "No", "false"),
    ("a float in its shortest form", "1.20", "1.2"),
    ("a float that is whole", "1.0", "1"),
    ("a float in single precision", "0.30000000000000004", "0.3"),
    ("a small float", "0.00001", "1e-05"),
    ("a large float", "1e6", "1e+06"),
    ("a float of many digits", "123456.7", "123456.7"),
    ("a float of more digits", "1234567.5", "1.2345675e+06"),
    ("a negative one", "-0.5", "-0.5"),
    ("one too large for single precision", "1e39", ".inf"),
    ("infinity", "-.inf", "-.inf"),
    ("no number", ".nan", ".nan"),
    ("a time is text", "2026-03-01", "2026-03-01"),
]


@pytest.mark.parametrize("text, name", [row[1:] for row in KEYS], ids=[row[0] for row in KEYS])
def test_a_key_is_the_text_that_kubectl_makes_of_it(text, name):
    assert key(text) == name


@pytest.mark.parametrize("text", ["~", "", str(2**63)])
def test_what_kubectl_takes_for_no_key_is_an_error(text):
    with pytest.raises(ValueError, match="must be text"):
        key(text)
