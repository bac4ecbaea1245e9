"""The codes that records carry: states, kinds and reasons of leases, exchanges and verdicts.

Each is a `StrEnum`, whose members are stored, sent and shown as their plain texts.
"""

from enum import StrEnum


class Reason(StrEnum):
    """The named reasons of verdicts; others are the code of a failure, or `status-` and the HTTP status."""

    FETCHED = "fetched"
    UNCHANGED = "unchanged"
    REDIRECT = "redirect"
    GONE = "gone"
    TOO_MANY_REDIRECTS = "too-many-redirects"
    DISALLOWED = "disallowed"
    """Robots.txt forbids it."""
    FILTERED = "filtered"
    """The scope, a filter or a trap rule excludes it."""
    TRAP = "trap"
    """Similar URLs gave nothing new."""
    NOINDEX = "noindex"
    """The page has the directive `noindex`."""
    SOFT_404 = "soft-404"
    """The page says that it does not exist."""
    IMPORTED = "imported"
    """It was imported from an external archive."""
    LOST = "lost"
    """The archive has lost its records, so it is fetched again."""
    SITEMAP = "sitemap"
    CONTEXT = "context"
    HEAVY = "heavy"
    """Too many pages that take long to extract were waiting; it is fetched again when there are few."""
    NO_SITEMAP = "no-sitemap"
    NO_CONTEXT = "no-context"

    __repr__ = str.__repr__


PREREQUISITE_REASONS = frozenset({Reason.SITEMAP, Reason.CONTEXT, Reason.NO_SITEMAP, Reason.NO_CONTEXT})
"""Reasons of verdicts on prerequisites, fetched or not; they do not count as pages."""
REFUSALS = frozenset({Reason.DISALLOWED, Reason.FILTERED})
"""Reasons of verdicts on URLs that were not requested, because of robots.txt, the scope, a filter or a trap rule."""


class RobotsRule(StrEnum):
    """What a robots.txt means for the pages of its origin."""

    RULES = "rules"
    """Its text decides."""
    ALLOW = "allow"
    """There is none: everything may be fetched."""
    UNREACHABLE = "unreachable"
    """Nothing may be fetched until it answers (RFC 9309, 2.3.1.4)."""

    __repr__ = str.__repr__


class LeaseKind(StrEnum):
    """What a lease is for."""

    NAME = "name"
    """To look up the host's addresses."""
    ROBOTS = "robots"
    """To fetch a robots.txt."""
    PAGE = "page"
    """To fetch a page."""


class Lane(StrEnum):
    """What kind of connection a request may hold; slow servers together hold a bounded share."""

    OPEN = "open"
    """Its host answered fast the last time."""
    NEW = "new"
    """Its host has not answered yet."""
    SPARE = "spare"
    """Its host was slow, and the connection is one that nobody needs at the moment."""
    SLOW = "slow"
    """Its host was slow: the slow lane has few connections, and they are not taken back."""
    HEAVY = "heavy"
    """The last page of its host took long to extract: there are few at a time."""

    __repr__ = str.__repr__


class VerdictState(StrEnum):
    """What becomes of a URL after an exchange."""

    DONE = "done"
    """The server gave a final answer: 2xx, 3xx (304 included), or a 4xx that is not temporary."""
    RETRY = "retry"
    """It will be tried again."""
    FAILED = "failed"
    """It is not tried again."""


class FailureCode(StrEnum):
    """Why an exchange gave no page."""

    DNS = "dns"
    """The name servers of the host do not answer."""
    NXDOMAIN = "nxdomain"
    """There is no host of that name."""
    PRIVATE = "private"
    """The address is private, which is refused."""
    REFUSED = "refused"
    """No server listens on that port."""
    UNREACHABLE = "unreachable"
    """There is no route to the address."""
    CONNECT_TIMEOUT = "connect-timeout"
    """The connection, including TLS, was not established within `connect_timeout_s`."""
    TLS = "tls"
    """The certificate is not trusted, or the TLS handshake failed."""
    FIRST_BYTE_TIMEOUT = "first-byte-timeout"
    """The server sent nothing for `first_byte_timeout_s` after the request."""
    SLOW = "slow"
    """The response came too slowly for half a minute."""
    TIMEOUT = "timeout"
    """There was no head, or no body, within `timeout_s`."""
    RESET = "reset"
    """The connection ended before the response had a body."""
    PROTOCOL = "protocol"
    """The response is not HTTP, or not encoded as declared."""
    TOO_LARGE = "too-large"
    """The head of the response is longer than libcurl accepts."""
    UNSUPPORTED = "unsupported"
    """The scheme is not fetched, the port is reserved for other protocols, or libcurl refuses the URL."""
    TAKEN_BACK = "taken-back"
    """The server was far slower than others while these waited for a connection; it is asked again in the slow lane."""
    BUSY = "busy"
    """This shard has no capacity: bodies in flight use all their memory. Try again."""
    SHORTAGE = "shortage"
    """This machine lacks a descriptor, a network or name servers. Nothing was asked, nobody is blamed, and the shard waits."""

    __repr__ = str.__repr__


class Truncation(StrEnum):
    """Why a body is incomplete."""

    LENGTH = "length"
    """It is longer than our limit."""
    TIME = "time"
    """It took longer than `timeout_s`."""
    DISCONNECT = "disconnect"
    """The connection or the content encoding ended early."""
    UNWANTED = "unwanted"
    """It is of a type that is not kept."""


class DuplicateKind(StrEnum):
    """How a page duplicates another one."""

    NONE = ""
    """It does not."""
    EXACT = "exact"
    """It has the same bytes."""
    NEAR = "near"
    """It has nearly the same text, and the same statements."""
    CANONICAL = "canonical"
    """It names another URL as canonical."""
    SOFT_404 = "soft-404"
    """It says that it does not exist, although its status is 2xx."""

    __repr__ = str.__repr__
