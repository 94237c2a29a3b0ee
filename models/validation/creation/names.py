"""How names, labels and other short texts are spelled.

Each rule takes a text and returns what is wrong with it, or nothing. Answers are kept: an input has few
distinct names of labels, images and nodes, and many objects.

Sources: apimachinery pkg/util/validation, pkg/api/validate/content; RFC 1123.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from ..faults import Fault, Faults, below

Rule = Callable[[str], str]

_LABEL = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_SUBDOMAIN = re.compile(rf"{_LABEL.pattern}(?:\.{_LABEL.pattern})*")
_NAME_PART = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_PORT = re.compile(r"(?=.*[a-z])[a-z0-9](?:-?[a-z0-9])*")
_DECIMAL = re.compile(r"0|-?[1-9][0-9]*")

_MOST = 63
_MOST_SUBDOMAIN = 253
_MOST_IDENTIFIER = 32
_MOST_PORT = 15
_MOST_DIGITS = len(str(-(2**63)))
_ADDRESS_PARTS = 4
_SHOWN = 70


def _not(text: str) -> str:
    return f", not {text!r}" if len(text) <= _SHOWN else f", not '{text[:_SHOWN]}…'"


@lru_cache(maxsize=1 << 16)
def label_name(text: str) -> str:
    """Say what keeps a text from being a DNS label."""
    if len(text) <= _MOST and _LABEL.fullmatch(text):
        return ""
    return (
        f"must be a DNS label (at most {_MOST} lower case letters, digits and hyphens, with a letter or "
        f"digit at either end){_not(text)}"
    )


@lru_cache(maxsize=1 << 16)
def subdomain(text: str) -> str:
    """Say what keeps a text from being a DNS subdomain: labels of any length, joined by dots."""
    if len(text) <= _MOST_SUBDOMAIN and _SUBDOMAIN.fullmatch(text):
        return ""
    return (
        f"must be a DNS subdomain (at most {_MOST_SUBDOMAIN} lower case letters, digits, hyphens and dots, "
        f"with a letter or digit at either end){_not(text)}"
    )


def object_name(text: str) -> str:
    """Say what keeps a text from being the name of most objects: a DNS subdomain, here in any case."""
    return subdomain(text.lower()) and subdomain(text)


def short_name(text: str) -> str:
    """Say what keeps a text from being a name without dots: a DNS label, here in any case."""
    return label_name(text.lower()) and label_name(text)


@lru_cache(maxsize=1 << 16)
def driver_name(text: str) -> str:
    """Say what keeps a text from being the name of a driver: a short subdomain, in any case."""
    if len(text) <= _MOST and _SUBDOMAIN.fullmatch(text.lower()) and text.isascii():
        return ""
    return f"must be a DNS subdomain of at most {_MOST} characters{_not(text)}"


@lru_cache(maxsize=1 << 16)
def qualified_name(text: str) -> str:
    """Say what keeps a text from being a key: a name, perhaps after a DNS subdomain and a slash."""
    prefix, slash, name = text.rpartition("/")
    if len(name) <= _MOST and _NAME_PART.fullmatch(name) and not (slash and subdomain(prefix)):
        return ""
    return (
        f"must be a name of at most {_MOST} letters, digits, '-', '_' and '.', with a letter or digit at "
        f"either end, perhaps after a DNS subdomain and a slash{_not(text)}"
    )


@lru_cache(maxsize=1 << 16)
def label_value(text: str) -> str:
    """Say what keeps a text from being the value of a label."""
    if not text or (len(text) <= _MOST and _NAME_PART.fullmatch(text)):
        return ""
    return (
        f"must be empty or at most {_MOST} letters, digits, '-', '_' and '.', with a letter or digit at "
        f"either end{_not(text)}"
    )


def annotation_key(text: str) -> str:
    """Say what keeps a text from being the key of an annotation, whose case does not matter."""
    return qualified_name(text.lower())


@lru_cache(maxsize=1 << 12)
def attribute_name(text: str) -> str:
    """Say what keeps a text from naming an attribute or a capacity of a device."""
    domain, slash, name = text.rpartition("/")
    if len(name) <= _MOST_IDENTIFIER and _IDENTIFIER.fullmatch(name) and not (slash and driver_name(domain)):
        return ""
    return (
        f"must be at most {_MOST_IDENTIFIER} letters, digits and '_' with no digit in front, perhaps after a "
        f"domain and a slash{_not(text)}"
    )


def full_attribute_name(text: str) -> str:
    """Say what keeps a text from being an attribute's name with its domain."""
    return attribute_name(text) if "/" in text else f"must be <domain>/<name>{_not(text)}"


@lru_cache(maxsize=1 << 12)
def pool_name(text: str) -> str:
    """Say what keeps a text from being a pool's name: DNS subdomains joined by slashes."""
    if len(text) <= _MOST_SUBDOMAIN and not any(subdomain(part) for part in text.split("/")):
        return ""
    return f"must be DNS subdomains joined by slashes, of at most {_MOST_SUBDOMAIN} characters{_not(text)}"


@lru_cache(maxsize=1 << 12)
def port_name(text: str) -> str:
    """Say what keeps a text from being the name of a container's port."""
    if len(text) <= _MOST_PORT and _PORT.fullmatch(text):
        return ""
    return (
        f"must be at most {_MOST_PORT} lower case letters, digits and single hyphens, with at least one "
        f"letter, and a letter or digit at either end{_not(text)}"
    )


def decimal_integer(text: str) -> str:
    """Say what keeps a text from being a 64-bit integer as it is printed: no sign `+`, no leading zeros."""
    if _DECIMAL.fullmatch(text) and len(text) <= _MOST_DIGITS and -(2**63) <= int(text) < 2**63:
        return ""
    return f"must be a whole number of 64 bits without '+' or leading zeros{_not(text)}"


@lru_cache(maxsize=1 << 12)
def address(text: str) -> str:
    """Say what keeps a text from being an IP address; leading zeros are taken, as they were of old."""
    # Here and not at the top: few inputs name an address, and the module takes long to import.
    from ipaddress import IPv6Address

    try:
        if ":" in text and "%" not in text:
            IPv6Address(text)
            return ""
    except ValueError:
        pass
    parts = text.split(".")
    if len(parts) == _ADDRESS_PARTS and all(
        part.isascii() and part.isdigit() and len(part) < _SHOWN and int(part) < 2**8 for part in parts
    ):
        return ""
    return f"must be an IP address{_not(text)}"


def spelled(text: str | None, rule: Rule, path: str) -> Faults:
    """Find a text that breaks a rule of spelling; None and the empty text are left to other rules."""
    if text and (wrong := rule(text)):
        yield Fault(path, wrong)


def all_spelled(texts: Iterable[str], rule: Rule, path: str) -> Faults:
    """Find texts of a list that break a rule of spelling; an empty one does so, too."""
    for index, text in enumerate(texts):
        if wrong := rule(text):
            yield Fault(f"{path}[{index}]", wrong)


def label_faults(labels: Mapping[str, str], path: str) -> Faults:
    """Find faults of labels, or of a map that is to equal labels."""
    for key, value in labels.items():
        if wrong := qualified_name(key):
            yield Fault(path, wrong)
        if wrong := label_value(value):
            yield Fault(below(path, key), wrong)
