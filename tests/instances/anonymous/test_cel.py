"""Selectors of devices with other names in them."""

import pytest

from kubestow.instances.anonymous.cel import Selector


def rewritten(expression):
    selector = Selector(expression)
    return None if selector.opaque else selector.rewritten(lambda text: f"D:{text}", lambda text: f"V:{text}")


ROWS = [
    pytest.param('device.driver == "d"', 'device.driver == "V:d"', id="A driver"),
    pytest.param("'d' == device.driver", '"V:d" == device.driver', id="A driver, the other way round"),
    pytest.param(
        'device.attributes["d"].model == "a100"',
        'device.attributes["D:d"].model == "V:a100"',
        id="The domain of an attribute, and its value",
    ),
    pytest.param(
        'device.attributes["d"]["model"] != "a100"',
        'device.attributes["D:d"]["model"] != "V:a100"',
        id="The name of an attribute stays",
    ),
    pytest.param('"d" in device.attributes', '"D:d" in device.attributes', id="A domain that is there"),
    pytest.param(
        '"model" in device.attributes["d"]', '"model" in device.attributes["D:d"]', id="A name that is there"
    ),
    pytest.param(
        'device.attributes["d"].model in ["a", "b"]',
        'device.attributes["D:d"].model in ["V:a", "V:b"]',
        id="One of several values",
    ),
    pytest.param('device.driver in ["a"]', 'device.driver in ["V:a"]', id="One of one value"),
    pytest.param(
        '"a" in device.attributes["d"].models',
        '"V:a" in device.attributes["D:d"].models',
        id="In a list",
    ),
    pytest.param(
        'device.capacity["d"].memory.compareTo(quantity("40Gi")) >= 0',
        'device.capacity["D:d"].memory.compareTo(quantity("40Gi")) >= 0',
        id="A quantity stays",
    ),
    pytest.param(
        'device.attributes["d"].v.isGreaterThan(semver("1.2.3"))',
        'device.attributes["D:d"].v.isGreaterThan(semver("1.2.3"))',
        id="A version stays",
    ),
    pytest.param(
        'device.attributes["d"].?model.orValue("none") == "a"',
        'device.attributes["D:d"].?model.orValue("V:none") == "V:a"',
        id="A value for want of one",
    ),
    pytest.param(
        'device.attributes[?"d"][?"model"].orValue("x") == "x"',
        'device.attributes[?"D:d"][?"model"].orValue("V:x") == "V:x"',
        id="An optional index",
    ),
    pytest.param(
        'device.driver == "d" // of team acme\n&& true', 'device.driver == "V:d" \n&& true', id="No comment"
    ),
    pytest.param("device.attributes['d'].cores > 3", 'device.attributes["D:d"].cores > 3', id="A number"),
    pytest.param('device.driver.startsWith("a")', None, id="A prefix is opaque"),
    pytest.param('device.attributes["d"].model.matches("a.*")', None, id="A pattern is opaque"),
    pytest.param('device.attributes["d"].model.lowerAscii() == "a"', None, id="Other letters are opaque"),
    pytest.param('device.driver == "a" + "b"', None, id="A sum is opaque"),
    pytest.param('device.driver < "b"', None, id="An order is opaque"),
    pytest.param('device.driver == r"a"', None, id="A raw text is opaque"),
    pytest.param('device.driver == """a"""', None, id="A long text is opaque"),
    pytest.param('device.driver == "\\x61"', None, id="A text with escapes is opaque"),
    pytest.param('(true ? "a" : "b") == device.driver', None, id="A choice is opaque"),
    pytest.param('size(device.attributes["d"].model) == 3', None, id="A length is opaque"),
]


@pytest.mark.parametrize("expression, expected", ROWS)
def test_other_texts_in_a_selector(expression, expected):
    assert rewritten(expression) == expected


def test_an_opaque_selector_stays_but_for_its_comments():
    selector = Selector('device.driver.startsWith("a") // acme')
    assert selector.rewritten(str.upper, str.upper) == 'device.driver.startsWith("a") '
