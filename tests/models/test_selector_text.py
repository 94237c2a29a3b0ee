"""Selectors as kubectl's `-l` takes them (apimachinery pkg/labels)."""

import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubestow.models.selector_text import parse_selector
from kubestow.models.selectors import CompiledSelector, compile_requirements, requirement

LABELS = {"app": "web", "tier": "front", "cores": "16", "empty": "", "in": "notin", "example.com/a.b": "c_d"}


@pytest.mark.parametrize(
    "text, holds",
    [
        pytest.param("", True, id="nothing selects everything"),
        pytest.param("  ", True, id="blanks are nothing"),
        pytest.param("app=web", True, id="a value"),
        pytest.param("app==web", True, id="a value, as programmers write it"),
        pytest.param("app = web", True, id="blanks around the sign"),
        pytest.param("app=db", False, id="another value"),
        pytest.param("app!=db", True, id="not another value"),
        pytest.param("zone!=a", True, id="a missing key has not the value"),
        pytest.param("app=web,tier=front", True, id="both"),
        pytest.param("app=web,tier=back", False, id="one of two is not enough"),
        pytest.param("app", True, id="a key that is there"),
        pytest.param("zone", False, id="a key that is not"),
        pytest.param("!zone", True, id="a key that must not be there"),
        pytest.param("! app", False, id="a key that must not be there and is"),
        pytest.param("app in (web,db)", True, id="one of a list"),
        pytest.param("app in(web)", True, id="no blank before the list"),
        pytest.param("app notin (web, db)", False, id="none of a list"),
        pytest.param("zone notin (a)", True, id="a missing key is none of a list"),
        pytest.param("empty=", True, id="the empty value"),
        pytest.param("empty=,app=web", True, id="the empty value before a comma"),
        pytest.param("empty in ()", True, id="an empty list has the empty value"),
        pytest.param("empty in (a,)", True, id="nothing after a comma is the empty value"),
        pytest.param("empty in (a,,b)", True, id="nothing between two commas as well"),
        pytest.param("app in (a,)", False, id="which is not any value"),
        pytest.param("cores>15", True, id="more than"),
        pytest.param("cores<16", False, id="less than"),
        pytest.param("app>1", False, id="a word is no more than a number"),
        pytest.param("in=notin", True, id="words of the grammar as key and value"),
        pytest.param("in in (in,notin)", True, id="and in a list"),
        pytest.param("example.com/a.b=c_d", True, id="a key with a domain"),
        pytest.param("\tapp\r\n=web", True, id="tabs and ends of lines are blanks"),
    ],
)
def test_what_a_text_selects(text, holds):
    assert parse_selector(text).matches(LABELS) is holds


@pytest.mark.parametrize(
    "text, message",
    [
        pytest.param("app=web,", "the end stands where a label's key is expected", id="a comma at the end"),
        pytest.param(",app", "',' stands where a label's key is expected", id="a comma in front"),
        pytest.param("=web", "'=' stands where a label's key is expected", id="no key"),
        pytest.param("app=web tier=front", "'tier' stands where ',' or the end is expected", id="no comma"),
        pytest.param("a==b==c", "'==' stands where ',' or the end is expected", id="two signs"),
        pytest.param("!a=b", "'=' stands where ',' or the end is expected", id="missing, with a value"),
        pytest.param("a b", "'b' stands where one of =, ==, !=, in, notin, <, > is expected", id="no sign"),
        pytest.param("a in b", "'b' stands where '(' is expected", id="no list"),
        pytest.param("a in (b", "the end stands where ',' or ')' is expected", id="a list without an end"),
        pytest.param("a in (b c)", "'c' stands where ',' or ')' is expected", id="a list without commas"),
        pytest.param("a=!b", "'!' stands where a value is expected", id="a sign for a value"),
        pytest.param("a>b", "a is compared with a whole number, not 'b'", id="more than a word"),
        pytest.param("a<", "a is compared with a whole number, not ''", id="less than nothing"),
        pytest.param("-a=b", "a label's key must be a name of at most 63", id="a key that is none"),
        pytest.param("a=b/c", "a label's value must be empty or at most 63", id="a value that is none"),
        pytest.param("x=a||y=b", "a label's value must be empty", id="what is no grammar at all"),
    ],
)
def test_what_is_no_selector(text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_selector(text)


KEYS = st.sampled_from(["a", "b", "in", "notin", "x.io/y"])
VALUES = st.sampled_from(["", "1", "20", "v", "in", "a-b"])
BLANKS = st.sampled_from(["", " ", "\t "])


@st.composite
def written(draw):
    """A requirement, and one of the ways to write it."""
    key, blank = draw(KEYS), draw(BLANKS)
    match draw(st.sampled_from(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "=", "!="])):
        case "Exists":
            return requirement(key, "Exists"), f"{blank}{key}{blank}"
        case "DoesNotExist":
            return requirement(key, "DoesNotExist"), f"!{blank}{key}"
        case ("Gt" | "Lt") as operator:
            number = draw(st.integers(0, 30))
            sign = ">" if operator == "Gt" else "<"
            return requirement(key, operator, (str(number),)), f"{key}{blank}{sign}{blank}{number}"
        case ("=" | "!=") as sign:
            value = draw(VALUES)
            operator = "In" if sign == "=" else "NotIn"
            return requirement(key, operator, (value,)), f"{key}{blank}{sign}{blank}{value}"
        case operator:
            values = draw(st.lists(VALUES, min_size=1, max_size=3))
            inside = f",{blank}".join(values)
            return requirement(key, operator, tuple(values)), f"{key} {operator.lower()}{blank}({inside})"


@given(st.lists(written(), max_size=4), st.dictionaries(KEYS, VALUES))
def test_what_is_written_is_read(parts, labels):
    """Requirements are values, so that equal ones select the same; each is asked about labels as well."""
    selector = parse_selector(",".join(text for _, text in parts))
    assert selector == compile_requirements(tuple(item for item, _ in parts))
    assert selector.matches(labels) == all(item.matches(labels) for item, _ in parts)


@given(st.text(alphabet="ab=!<>(), in", max_size=12))
def test_any_text_is_a_selector_or_a_message(text):
    with suppress(ValueError):
        assert isinstance(parse_selector(text), CompiledSelector)
