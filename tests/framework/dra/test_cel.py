"""Selectors: what they see of a device, Kubernetes' libraries, and what happens where they fail."""

import pytest

from kubestow.framework.dra.cel.program import CompileError, EvaluationError, Program, device_values
from kubestow.framework.dra.cel.rewriting import rewrite
from kubestow.framework.dra.cel.values import read_quantity, read_version

DEVICE = device_values(
    "d.io",
    {
        "d.io": {"model": "h100", "slots": 3, "ok": True, "version": read_version("1.2.3+build")},
        "other.io": {"model": "x"},
    },
    {"d.io": {"memory": read_quantity("40Gi")}},
    shared=False,
)
OWN = 'device.attributes["d.io"]'
MEMORY = 'device.capacity["d.io"].memory'
MANY = str(list(range(30)))


def takes(expression):
    return Program(expression).matches(DEVICE)


@pytest.mark.parametrize(
    "expression",
    [
        # the device
        'device.driver == "d.io"',
        f'{OWN}.model == "h100"',
        f'{OWN}["model"] in ["h100", "a100"]',
        f"{OWN}.ok",
        f"{OWN}.slots < 4 && {OWN}.slots > 2.5",
        f'{OWN}.model.startsWith("h") || {OWN}.nothing == 1',
        f'"model" in {OWN} && !("nothing" in {OWN})',
        f"has({OWN}.model) && !has({OWN}.nothing)",
        "!device.allowMultipleAllocations",
        'cel.bind(own, device.attributes["d.io"], own.ok && own.model.matches("^h1"))',
        f'{OWN}.?model.orValue("") == "h100" && {OWN}.?nothing.orValue("none") == "none"',
        'device.attributes[device.driver].model == "h100"',
        f'{OWN}.slots == 3 ? {OWN}.model != "" : false',
        'device.attributes.exists(domain, domain == "other.io") && device.attributes.size() == 2',
        f'{OWN}.model != 3 && {OWN}.slots != "3"',
        # domains that the device lacks
        '!has(device.attributes["no.io"].model)',
        '!("no.io" in device.attributes) && !("model" in device.attributes["no.io"])',
        'device.attributes[?"no.io"][?"model"].orValue("none") == "none"',
        'device.attributes[?"no.io"].hasValue()',
        'device.attributes["no.io"].size() == 0 && device.capacity["no.io"].size() == 0',
        "device.attributes.no.size() == 0 && !has(device.attributes.no.model)",
        "has(device.driver) && has(device.attributes.no)",
        'cel.bind(none, device.attributes["no.io"], !has(none.model))',
        # quantities
        f'{MEMORY}.compareTo(quantity("40960Mi")) == 0 && {MEMORY} == quantity("40Gi")',
        f'{MEMORY}.isGreaterThan(quantity("39Gi")) && {MEMORY}.isLessThan(quantity("42949672960001m"))',
        f'{MEMORY}.sub(quantity("38Gi")).add(1).asInteger() == 2147483649',
        'quantity("-1").sign() == -1 && quantity("0").sign() == 0 && !quantity("1m").isInteger()',
        'quantity("1500m").asApproximateFloat() == 1.5 && isQuantity("1Ki") && !isQuantity("1ki")',
        # versions
        f'{OWN}.version.compareTo(semver("1.2.0")) > 0 && {OWN}.version == semver("1.2.3")',
        f'{OWN}.version.isLessThan(semver("2.0.0-rc.1"))',
        f'{OWN}.version.isGreaterThan(semver("1.2.3-rc.1"))',
        f"{OWN}.version.major() == 1 && {OWN}.version.minor() == 2 && {OWN}.version.patch() == 3",
        'semver("v1.2", true) == semver("1.2.0") && isSemver("1.2.3")',
        '!isSemver("1.2") && isSemver("1.2", true)',
        # strings, lists, sets, regular expressions
        f'{OWN}.model.upperAscii() == "H100" && "a,b".split(",").size() == 2 && "abc".charAt(1) == "b"',
        "[1, 2].isSorted() && ![2, 1].isSorted()",
        "[1, 2].sum() == 3 && [3, 1].min() == 1 && [3, 1].max() == 3",
        "sets.contains([1, 2], [2]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 1], [1])",
        '"a1b22".find("[0-9]+") == "1" && "a1b22".findAll("[0-9]+", 1) == ["1"] && "ab".find("x") == ""',
        f'"{40 * "a"}".find("(a*)*(a*)*b") == ""',  # takes ages where an engine tries one way after another
        '"baaab".findAll("a*") == ["", "aaa", ""] && "é1".findAll("") == ["", "", ""]',
        '"abab".findAll("a|b", -1).size() == 4 && "ab".findAll("a|b", 0).size() == 0',
        r'"a1".find("[[:alpha:]]\\pN\\z") == "a1"',
        # addresses and URLs
        'ip("10.0.0.1") == ip("10.0.0.1") && isIP("::1") && !isIP("10.0.0.01") && !isIP("::ffff:10.0.0.1")',
        'ip("10.0.0.1").family() == 4 && ip("::1").family() == 6',
        'ip.isCanonical("::1") && ip("::").isUnspecified()',
        'ip("127.0.0.1").isLoopback()',
        'ip("224.0.0.1").isLinkLocalMulticast() && ip("fe80::1").isLinkLocalUnicast()',
        'ip("10.0.0.1").isGlobalUnicast() && !ip("255.255.255.255").isGlobalUnicast()',
        'cidr("10.0.0.0/8").containsIP("10.1.2.3") && cidr("10.0.0.0/8").containsIP(ip("10.1.2.3"))',
        'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16")',
        '!cidr("10.0.0.0/8").containsCIDR(cidr("10.0.0.0/7"))',
        'cidr("10.0.0.1/8").ip() == ip("10.0.0.1") && cidr("10.0.0.1/8").masked().prefixLength() == 8',
        'isCIDR("::1/128") && !isCIDR("10.0.0.0") && !isCIDR("10.0.0.0/08")',
        'url("https://h:80/a%20b?c=d").getHost() == "h:80"',
        'url("https://h:80/a%20b").getEscapedPath() == "/a%20b"',
        'url("https://h:80/").getScheme() == "https" && url("https://h:80/").getPort() == "80"',
        'url("https://[::1]:80/?c=d&c=").getHostname() == "::1"',
        'url("/x?c=d&c=").getQuery()["c"] == ["d", ""]',
        'isURL("/path") && !isURL("path") && !isURL("https://h:99999/")',
    ],
)
def test_what_holds(expression):
    assert takes(expression) is True


@pytest.mark.parametrize(
    "expression, text",
    [
        pytest.param(f"{OWN}.nothing == 1", "no such key: nothing", id="an attribute that the device lacks"),
        pytest.param('device.attributes["no.io"].x == 1', "no such key: x", id="in a domain that it lacks"),
        pytest.param(f"{OWN}.model > 3", "no such overload", id="a comparison of different types"),
        pytest.param(f"{OWN}.slots / 0 == 1", "division by zero", id="a division by zero"),
        pytest.param(
            f"{OWN}.model", "CEL result of type string could not be converted to bool", id="no bool"
        ),
        pytest.param('quantity("40GB") == quantity("1")', "'40GB' is not a quantity", id="no quantity"),
        pytest.param('semver("1") == semver("1.0.0")', "'1' is not a semantic version", id="no version"),
        pytest.param(
            f'{OWN}.model.isGreaterThan(quantity("1"))', "no such overload", id="no method of a text"
        ),
        pytest.param(
            'quantity("0.5").asInteger() == 0', "cannot convert value to integer", id="no whole number"
        ),
        pytest.param(
            'ip("1.2.3.4").compareTo(quantity("1")) == 0', "no such overload", id="no quantity but an address"
        ),
        pytest.param("[].min() == 1", "min called on empty list", id="the smallest of nothing"),
        pytest.param('"x".find("[") == ""', "Illegal regex", id="no regular expression"),
        pytest.param('"x".find("(?=x)") == ""', "Illegal regex: invalid perl operator: (?=", id="nor this"),
        pytest.param('url("path").getPort() == ""', "URL parse error", id="no absolute URL"),
        pytest.param(
            f"{MANY}.all(x, {MANY}.all(y, {MANY}.all(z, x + y + z >= 0)))",
            "Iteration budget exceeded",
            id="more turns than the runtime allows",
        ),
    ],
)
def test_what_fails_on_a_device(expression, text):
    program = Program(expression)
    with pytest.raises(EvaluationError) as raised:
        program.matches(DEVICE)
    assert str(raised.value).startswith(text)


@pytest.mark.parametrize(
    "expression, text",
    [
        pytest.param("", "Syntax error", id="nothing"),
        pytest.param("device.driver ==", "column 17: Syntax error", id="half of it"),
        pytest.param("device.attributes[", "Syntax error", id="half a look-up"),
        pytest.param('devices.driver == "x"', "undeclared reference to 'devices", id="no such variable"),
        pytest.param("device.name == 1", "undeclared reference to 'device.name'", id="no such field"),
        pytest.param("device.driver == 1", "no matching overload for '_==_'", id="a text is no number"),
        pytest.param(
            f'{MEMORY} > quantity("1")', "no matching overload for '_>_'", id="quantities have no >"
        ),
        pytest.param(
            f'{MEMORY}.compareTo(semver("1.0.0")) == 0', "no matching overload", id="nor are they versions"
        ),
        pytest.param("device.driver", "must evaluate to bool or the unknown type, not string", id="no bool"),
    ],
)
def test_what_does_not_compile(expression, text):
    with pytest.raises(CompileError) as raised:
        Program(expression)
    assert text in str(raised.value)
    assert "\n" not in str(raised.value)


DEEP = {
    "sums": "+".join(["1"] * 60) + " == 60",
    "parentheses": "(" * 60 + "true" + ")" * 60,
    "conditions": "true ? true : " * 60 + "true",
    "lists": "[" * 60 + "]" * 60 + ".size() == 1",
    "calls": "string(" * 60 + "'a'" + ")" * 60 + " == 'a'",
}


@pytest.mark.parametrize("expression", DEEP.values(), ids=DEEP)
def test_what_is_nested_too_deeply_is_told_in_words(expression):
    with pytest.raises(CompileError) as raised:
        Program(expression)
    words = "nested more deeply than the 32 levels that the CEL runtime takes (docs/dra.md)"
    assert str(raised.value) == words


@pytest.mark.parametrize("sign", ["&&", "||"])
def test_a_long_row_of_conditions_is_not_nested(sign):
    assert Program(sign.join(["true"] * 300))


@pytest.mark.parametrize(
    "expression, rewritten",
    [
        pytest.param("a == b // device.attributes.x", "a == b", id="comments go"),
        pytest.param("'device.attributes.x' != \"]\"", "'device.attributes.x' != \"]\"", id="texts stay"),
        pytest.param(r'r"\" + b"\"" + """"]"""', r'r"\" + b"\"" + """"]"""', id="of whatever kind"),
        pytest.param("x.device.attributes.y", "x . device . attributes . y", id="other things' fields stay"),
        pytest.param(
            "device.attributes[f(device.attributes.a)]",
            'device . attributes [ ? f ( device . attributes [ ? "a" ] . orValue ( { } ) ) ] '
            ". orValue ( { } )",
            id="look-ups in look-ups",
        ),
        pytest.param(
            "device.attributes.all(x, true)", "device . attributes . all ( x , true )", id="loops stay"
        ),
        pytest.param("a ? [1][0] : b", "a ? [ 1 ] [ 0 ] : b", id="what is not about devices stays"),
    ],
)
def test_rewriting(expression, rewritten):
    assert rewrite(expression) == rewritten


def test_the_runtime_is_not_imported_before_it_is_needed():
    import subprocess
    import sys

    code = "import sys, kubestow.framework.runs.trace; sys.exit('cel_expr_python' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
