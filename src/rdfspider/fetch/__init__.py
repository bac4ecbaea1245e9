"""A lease enters, a `Capture` or a `Failure` leaves: DNS, robots.txt and HTTP.

- `fetcher` combines the parts; `schemes` maps each URL scheme to its transport. A new protocol is one module and one line
  there.
- `http` is the libcurl transport (the only module that imports pycurl), `curl` translates libcurl's error codes and headers,
  and `bodies` decodes content encodings in bounded memory.
- `dns` resolves names; `targets` refuses private addresses, both when a name is resolved and when a socket is opened.
- `robots` parses robots.txt (RFC 9309) and judges the exchange for it; `robots_rules` matches its rules.

Invariants: no server behaviour raises an exception or takes unbounded time or memory. Redirects of pages are not followed
here, and the frontier decides what to do after a failure.
"""
