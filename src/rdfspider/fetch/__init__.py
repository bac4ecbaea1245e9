"""A lease enters, a `Capture` or a `Failure` leaves: DNS, robots.txt and HTTP.

- `fetcher` puts the parts together; `schemes` says what fetches URLs of which scheme. Another protocol is one module
  and one line there.
- `http` is the transport by libcurl (the only module that imports pycurl), `curl` translates what libcurl tells, and
  `bodies` undoes content encodings within bounds of memory.
- `dns` looks names up; `targets` refuses private addresses, both when a name is resolved and when a socket is opened.
- `robots` parses and judges robots.txt (RFC 9309), `robots_rules` matches its rules.

Invariants: nothing that a server does is an exception, and nothing that it does takes unbounded time or memory.
Redirects of pages are not followed here, and what to do after a failure is decided by the frontier.
"""
