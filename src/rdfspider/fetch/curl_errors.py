"""libcurl's error numbers in, our codes of failures out; `fetch/transport.py` explains the codes."""

COULD_NOT_CONNECT = 7
TIMED_OUT = 28
NOT_RECEIVED = 56

# pycurl has no names for the newer ones.
CODES = {
    1: "protocol",  # HTTP/0.9; other schemes do not come so far
    3: "unsupported",  # malformed URL
    8: "protocol",  # weird server reply
    16: "protocol",  # HTTP/2 framing
    18: "reset",  # partial file
    TIMED_OUT: "timeout",
    35: "tls",  # no TLS connection
    51: "tls",
    52: "reset",  # got nothing
    53: "tls",
    54: "tls",
    55: "reset",  # send error
    NOT_RECEIVED: "reset",
    58: "tls",
    59: "tls",
    60: "tls",  # certificate not verified
    63: "too-large",
    66: "tls",
    77: "tls",
    82: "tls",
    83: "tls",
    91: "tls",
    92: "protocol",  # HTTP/2 stream
    100: "too-large",
}

CUT_SHORT = frozenset({18, 55, NOT_RECEIVED, 92})
"""Errors after which the part of the body that came is worth keeping."""
