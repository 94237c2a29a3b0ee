"""Kubernetes' CEL libraries as function declarations: quantity, semver, lists, sets, regex, URL, IP and CIDR.

CEL's own functions, optionals, `cel.bind` and the strings library come with the runtime. Of the lists
library, `indexOf` and `lastIndexOf` are left out: the runtime's strings library owns these names.

Source: k8s.io/apiserver/pkg/cel/library (quantity.go, semverlib.go, lists.go, regex.go), cel-go ext/sets.go.
"""

from collections.abc import Callable
from itertools import pairwise
from operator import eq
from typing import Any, Final, NamedTuple

import re2

from . import network
from .values import (
    Packed,
    PackedVersion,
    is_quantity,
    is_version,
    pack_quantity,
    read_quantity,
    read_version,
    unpack_quantity,
    unpack_version,
)

_LARGEST: Final = 2**63 - 1

_QUIETLY: Final = re2.Options()
_QUIETLY.log_errors = False  # a pattern that is none is told by an exception


class Function(NamedTuple):
    """One overload: `member` functions are called on their first parameter; types by their short names."""

    name: str
    returns: str
    parameters: tuple[str, ...]
    member: bool
    run: Callable[..., Any]


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


def _is_integer(value: Packed) -> bool:
    amount = unpack_quantity(value)
    return amount.denominator == 1 and -_LARGEST - 1 <= amount <= _LARGEST


def _as_integer(value: Packed) -> int:
    if not _is_integer(value):
        raise ValueError("cannot convert value to integer")
    return int(unpack_quantity(value))


def _sign(value: Packed) -> int:
    return _compare(unpack_quantity(value), 0)


def _quantities() -> list[Function]:
    q = unpack_quantity

    def member(name: str, returns: str, more: tuple[str, ...], run: Callable[..., Any]) -> Function:
        return Function(name, returns, ("quantity", *more), True, run)

    return [
        Function("quantity", "quantity", ("string",), False, read_quantity),
        Function("isQuantity", "bool", ("string",), False, is_quantity),
        member("compareTo", "int", ("quantity",), lambda a, b: _compare(q(a), q(b))),
        member("isGreaterThan", "bool", ("quantity",), lambda a, b: q(a) > q(b)),
        member("isLessThan", "bool", ("quantity",), lambda a, b: q(a) < q(b)),
        member("add", "quantity", ("quantity",), lambda a, b: pack_quantity(q(a) + q(b))),
        member("add", "quantity", ("int",), lambda a, b: pack_quantity(q(a) + b)),
        member("sub", "quantity", ("quantity",), lambda a, b: pack_quantity(q(a) - q(b))),
        member("sub", "quantity", ("int",), lambda a, b: pack_quantity(q(a) - b)),
        member("sign", "int", (), _sign),
        member("isInteger", "bool", (), _is_integer),
        member("asInteger", "int", (), _as_integer),
        member("asApproximateFloat", "double", (), lambda a: float(q(a))),
    ]


def _versions() -> list[Function]:
    v = unpack_version

    def member(name: str, returns: str, more: tuple[str, ...], run: Callable[..., Any]) -> Function:
        return Function(name, returns, ("semver", *more), True, run)

    def part(name: str) -> Function:
        return member(name, "int", (), lambda value: getattr(v(value), name))

    return [
        Function("semver", "semver", ("string",), False, read_version),
        Function("semver", "semver", ("string", "bool"), False, read_version),
        Function("isSemver", "bool", ("string",), False, is_version),
        Function("isSemver", "bool", ("string", "bool"), False, is_version),
        member("compareTo", "int", ("semver",), lambda a, b: _compare(v(a), v(b))),
        member("isGreaterThan", "bool", ("semver",), lambda a, b: v(a) > v(b)),
        member("isLessThan", "bool", ("semver",), lambda a, b: v(a) < v(b)),
        part("major"),
        part("minor"),
        part("patch"),
    ]


def _extreme(pick: Callable[[list[Any]], Any], name: str) -> Callable[[list[Any]], Any]:
    def run(values: list[Any]) -> Any:
        if not values:
            raise ValueError(f"{name} called on empty list")
        return pick(values)

    return run


def _is_sorted(values: list[Any]) -> bool:
    return all(not later < earlier for earlier, later in pairwise(values))


def _lists() -> list[Function]:
    def on_list(name: str, returns: str, run: Callable[..., Any]) -> Function:
        return Function(name, returns, ("list",), True, run)

    def on_two(name: str, run: Callable[..., Any]) -> Function:
        return Function(name, "bool", ("list", "list"), False, run)

    return [
        on_list("isSorted", "bool", _is_sorted),
        on_list("sum", "dyn", sum),
        on_list("min", "dyn", _extreme(min, "min")),
        on_list("max", "dyn", _extreme(max, "max")),
        on_two("sets.contains", lambda a, b: all(item in a for item in b)),
        on_two("sets.intersects", lambda a, b: any(item in a for item in b)),
        on_two("sets.equivalent", lambda a, b: all(x in b for x in a) and all(x in a for x in b)),
    ]


def _pattern(text: str) -> Any:
    try:
        return re2.compile(text, _QUIETLY)
    except re2.error as wrong:
        raise ValueError(f"Illegal regex: {wrong.args[0].decode()}") from None


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match.group() if match else ""


def _find_all(text: str, pattern: str, most: int = -1) -> list[str]:
    """Return the matches; an empty one right behind another is none (Go's Regexp.FindAllString)."""
    found: list[str] = []
    last = -1
    for match in _pattern(pattern).finditer(text):
        if len(found) == most:
            break
        start, end = match.span()
        if start < end or start != last:
            found.append(match.group())
        last = end
    return found


def _regex() -> list[Function]:
    return [
        Function("find", "string", ("string", "string"), True, _find),
        Function("findAll", "strings", ("string", "string"), True, _find_all),
        Function("findAll", "strings", ("string", "string", "int"), True, _find_all),
    ]


def _network() -> list[Function]:
    def on(kind: str, name: str, returns: str, run: Callable[..., Any], *more: str) -> Function:
        return Function(name, returns, (kind, *more), True, run)

    return [
        Function("ip", "ip", ("string",), False, network.read_ip),
        Function("isIP", "bool", ("string",), False, network.is_ip),
        Function("ip.isCanonical", "bool", ("string",), False, network.is_canonical_ip),
        on("ip", "family", "int", network.family),
        on("ip", "isUnspecified", "bool", network.is_unspecified),
        on("ip", "isLoopback", "bool", network.is_loopback),
        on("ip", "isLinkLocalMulticast", "bool", network.is_link_local_multicast),
        on("ip", "isLinkLocalUnicast", "bool", network.is_link_local_unicast),
        on("ip", "isGlobalUnicast", "bool", network.is_global_unicast),
        Function("cidr", "cidr", ("string",), False, network.read_cidr),
        Function("isCIDR", "bool", ("string",), False, network.is_cidr),
        on("cidr", "containsIP", "bool", network.contains_ip, "ip"),
        on("cidr", "containsIP", "bool", network.contains_ip, "string"),
        on("cidr", "containsCIDR", "bool", network.contains_cidr, "cidr"),
        on("cidr", "containsCIDR", "bool", network.contains_cidr, "string"),
        on("cidr", "ip", "ip", network.ip_of),
        on("cidr", "masked", "cidr", network.masked),
        on("cidr", "prefixLength", "int", network.prefix_length),
        Function("url", "url", ("string",), False, network.read_url),
        Function("isURL", "bool", ("string",), False, network.is_url),
        on("url", "getScheme", "string", network.get_scheme),
        on("url", "getHost", "string", network.get_host),
        on("url", "getHostname", "string", network.get_hostname),
        on("url", "getPort", "string", network.get_port),
        on("url", "getEscapedPath", "string", network.get_escaped_path),
        on("url", "getQuery", "query", network.get_query),
    ]


def _includes(values: Any, value: Any) -> bool:
    """Whether a list has a value, or is it: a version travels as a list."""
    return bool(values == value or value in values)


def _attributes() -> list[Function]:
    """One function for attributes with one value and with several (KEP-5491)."""
    single = ("bool", "int", "string")
    return [
        *(Function("includes", "bool", ("list", kind), True, _includes) for kind in (*single, "semver")),
        *(Function("includes", "bool", (kind, kind), True, eq) for kind in single),
    ]


def functions() -> list[Function]:
    """Return every overload."""
    return [*_quantities(), *_versions(), *_lists(), *_regex(), *_network(), *_attributes()]


__all__ = ["Function", "Packed", "PackedVersion", "functions"]
