"""A lease enters, a `Capture` or a `Failure` leaves: DNS, robots.txt and HTTP.

- `fetcher` combines the parts, and has the table of URL schemes; `transport` says what each protocol does. A new protocol is
  one module, one line of the table, and its scheme in `urls.py`.
- `http` is the transport by libcurl, `curl` one exchange by it (only these two import pycurl), and `bodies` decodes content
  encodings in bounded memory.
- `dns` resolves names; `targets` refuses private addresses, both when a name is resolved and when a socket is opened.
- `shortages` tells failures that are this machine's own, for want of descriptors, a network or name servers, from those of hosts.
- `robots` parses robots.txt (RFC 9309) and judges the exchange for it; `robots_rules` matches its rules.

Invariants: no server behaviour raises an exception or takes unbounded time or memory. Redirects of pages are not followed
here, and the frontier decides what to do after a failure.
"""
