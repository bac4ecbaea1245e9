"""Communication between the processes of a crawl: links, claims and address grants between shards, permits and commands.

Each shard has one `Peers` (`peers.py`), with a `Peer` (`peer.py`) for each other shard. It delivers the frontier's outbox to the
shards that own the URLs (`delivery.py`), asks the owner of an IP address for a grant and the owner of a digest for the first URL
with that body (`claims.py`), and communicates with the coordinator (`coordinator_client.py`). In `admission.py` every request
waits for its address, a connection and memory. `coordinator.py` runs in the parent process, behind the sockets of
`coordinator_hub.py`: it knows the shards, limits the pages (`permits.py`) and detects the end. Its answers to beats are the lease
by which a shard lives (`lease.py`). The runner chooses the socket addresses; `sockets.py` opens the ZeroMQ sockets, `wires.py`
those between shards, and over TCP `gatekeeper.py` admits the crawl's keys alone. Sockets may lose messages whenever a connection
breaks, so whatever must arrive goes through a `Line` (`line.py`), which numbers it and sends it again; silent peers get a sign
of life now and then (`calls.py`).

Invariants: messages to or from an earlier epoch of a shard are dropped; between two epochs none is lost or reordered; links stay
in the outbox until they are durable at their owner; the pages of all shards together never exceed the limit; the coordinator can
relearn all it knows from the shards.
"""
