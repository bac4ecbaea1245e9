"""An IP address enters, a verdict leaves: may a crawler of the public web send requests to it?

Web pages name hosts, and the owner of a name chooses its addresses. So a link could lead a crawler to its own machine, to its
owner's network, or to a cloud's metadata service, which hands out credentials.
"""

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

# Azure's metadata service has this public-looking address; other clouds use link-local or private ones.
_METADATA = IPv4Address("168.63.129.16")
_PROTOCOLS = IPv4Network("192.0.0.0/24")
"""IETF protocol assignments (RFC 6890), also used by a cloud's metadata service; older versions of Python call them global."""
_UNICAST = IPv6Network("2000::/3")
"""Everything that IANA has allocated to the public internet."""
_EXAMPLES = IPv6Network("3fff::/20")
"""Documentation addresses (RFC 9637), which older versions of Python do not know."""
_NAT64 = IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are the IPv4 address that a gateway connects to."""

_PRIVATE_NAMES = (
    *(".localhost", ".local", ".internal", ".home.arpa"),
    *(".lan", ".home", ".corp", ".intranet", ".private", ".localdomain", ".box"),
)
"""Names under the first group are never on the public internet (RFC 6761, 6762, 8375; ICANN has reserved `internal`). Routers
and companies use the others for their own machines; of these only `box` is also a public top-level domain."""
BAD_PORTS = frozenset(
    map(
        int,
        "0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 "
        "135 137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 "
        "995 1719 1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080".split(),
    )
)


@lru_cache(maxsize=65_536)
def is_refused(address: str) -> bool:
    """Whether the address is private, loopback, link-local, metadata or otherwise not on the public internet.

    A text that is not an address is refused too.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return True
    return _is_refused_v4(parsed) if isinstance(parsed, IPv4Address) else _is_refused_v6(parsed)


def is_private_host(host: str) -> bool:
    """Whether the host of a normalised URL is refused by name; a public name may still have a private address."""
    name = host.strip("[]").rstrip(".")
    try:
        ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(_PRIVATE_NAMES)
    return is_refused(name)


def is_same_address(one: str, other: str) -> bool:
    """Whether two texts denote the same address; IPv6 has many spellings."""
    if one == other:
        return True
    try:
        return ip_address(one) == ip_address(other)
    except ValueError:
        return False


def _is_refused_v4(address: IPv4Address) -> bool:
    # Multicast and reserved addresses may count as global, but serve no pages.
    is_global = address.is_global and not address.is_multicast and not address.is_reserved
    return not is_global or address in _PROTOCOLS or address == _METADATA


def _is_refused_v6(address: IPv6Address) -> bool:
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in _NAT64:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    if inner is not None:
        return _is_refused_v4(inner)
    return address not in _UNICAST or not address.is_global or address.teredo is not None or address in _EXAMPLES
