"""Addresses, networks and URLs in CEL.

Source: k8s.io/apiserver/pkg/cel/library (ip.go, cidr.go, urls.go).
"""

import ipaddress
from typing import Final
from urllib.parse import parse_qs, urlsplit

from .values import Packed, tagged

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Interface | ipaddress.IPv6Interface

_BROADCAST: Final = ipaddress.IPv4Address("255.255.255.255")


def _address(text: str) -> Address:
    address = ipaddress.ip_address(text)
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            raise ValueError(f"IP address with zone value is not allowed: {text!r}")
        if address.ipv4_mapped is not None:
            raise ValueError(f"IPv4-mapped IPv6 address is not allowed: {text!r}")
    return address


def _network(text: str) -> Network:
    address, slash, length = text.partition("/")
    if not slash or not length.isdigit() or (len(length) > 1 and length[0] == "0"):
        raise ValueError(f"network address parse error: {text!r} is not a CIDR")
    _address(address)
    return ipaddress.ip_interface(text)


def _is(read: object, text: str) -> bool:
    try:
        read(text)  # type: ignore[operator]
    except ValueError:
        return False
    return True


def read_ip(text: str) -> Packed:
    """Read an address."""
    return {"ip": str(_address(text))}


def is_ip(text: str) -> bool:
    """Whether a text is an address."""
    return _is(_address, text)


def is_canonical_ip(text: str) -> bool:
    """Whether an address is in its usual spelling."""
    return str(_address(text)) == text


def family(ip: Packed) -> int:
    """Return 4 or 6."""
    return _address(tagged(ip, "ip")).version


def is_unspecified(ip: Packed) -> bool:
    """Whether it is 0.0.0.0 or ::."""
    return _address(tagged(ip, "ip")).is_unspecified


def is_loopback(ip: Packed) -> bool:
    """Whether it is a loopback address."""
    return _address(tagged(ip, "ip")).is_loopback


def is_link_local_multicast(ip: Packed) -> bool:
    """Whether it is in 224.0.0.0/24 or ff02::/16."""
    address = _address(tagged(ip, "ip"))
    local = "224.0.0.0/24" if address.version == 4 else "ff02::/16"
    return address in ipaddress.ip_network(local)


def is_link_local_unicast(ip: Packed) -> bool:
    """Whether it is in 169.254.0.0/16 or fe80::/10."""
    return _address(tagged(ip, "ip")).is_link_local


def is_global_unicast(ip: Packed) -> bool:
    """Whether it is an ordinary address, private ones among them."""
    address = _address(tagged(ip, "ip"))
    special = address.is_unspecified or address.is_loopback or address.is_multicast or address.is_link_local
    return not special and address != _BROADCAST


def read_cidr(text: str) -> Packed:
    """Read a network."""
    return {"cidr": str(_network(text))}


def is_cidr(text: str) -> bool:
    """Whether a text is a network."""
    return _is(_network, text)


def contains_ip(cidr: Packed, ip: Packed | str) -> bool:
    """Whether an address is in a network."""
    return _address(ip if isinstance(ip, str) else tagged(ip, "ip")) in _network(tagged(cidr, "cidr")).network


def contains_cidr(cidr: Packed, other: Packed | str) -> bool:
    """Whether a network is in a network."""
    outer = _network(tagged(cidr, "cidr")).network
    inner = _network(other if isinstance(other, str) else tagged(other, "cidr"))
    return inner.ip in outer and inner.network.prefixlen >= outer.prefixlen


def ip_of(cidr: Packed) -> Packed:
    """Return the address before the slash."""
    return {"ip": str(_network(tagged(cidr, "cidr")).ip)}


def masked(cidr: Packed) -> Packed:
    """Return the network with its host bits cleared."""
    return {"cidr": str(_network(tagged(cidr, "cidr")).network)}


def prefix_length(cidr: Packed) -> int:
    """Return the number after the slash."""
    return _network(tagged(cidr, "cidr")).network.prefixlen


def _is_absolute(text: str) -> bool:
    parts = urlsplit(text)
    _ = parts.port  # a port out of range is an error
    return bool(parts.scheme) or text.startswith("/")


def is_url(text: str) -> bool:
    """Whether a text is an absolute URL or an absolute path."""
    try:
        return _is_absolute(text)
    except ValueError:
        return False


def read_url(text: str) -> Packed:
    """Read an absolute URL or an absolute path."""
    if not _is_absolute(text):
        raise ValueError(f"URL parse error: {text!r}: invalid URI for request")
    return {"url": text}


def get_scheme(url: Packed) -> str:
    """Return the scheme, empty for a path."""
    return urlsplit(tagged(url, "url")).scheme


def get_host(url: Packed) -> str:
    """Return host and port."""
    return urlsplit(tagged(url, "url")).netloc.rpartition("@")[2]


def get_hostname(url: Packed) -> str:
    """Return the host without port and brackets."""
    return urlsplit(tagged(url, "url")).hostname or ""


def get_port(url: Packed) -> str:
    """Return the port, empty where none is given."""
    port = urlsplit(tagged(url, "url")).port
    return "" if port is None else str(port)


def get_escaped_path(url: Packed) -> str:
    """Return the path as written."""
    return urlsplit(tagged(url, "url")).path


def get_query(url: Packed) -> dict[str, list[str]]:
    """Return the query's values by name."""
    return parse_qs(urlsplit(tagged(url, "url")).query, keep_blank_values=True)
