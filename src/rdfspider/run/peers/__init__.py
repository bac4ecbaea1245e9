"""Messages between the processes of a crawl: links, claims and address grants between shards, permits and commands of the
coordinator.

A shard has one `Peers`: it delivers the frontier's outbox to the shards that own its URLs (`delivery.py`), asks the owner of an
address before it is used (`address_gate.py`), asks the owner of a digest who had a content first (`claims.py`), and speaks to the
coordinator (`coordinator_client.py`). `admission.py` is what every request of a shard waits for: its address, a connection and
memory. `coordinator.py` is the other side, in the parent process: which shards are there, how many pages may still be fetched
(`permits.py`), and whether all is over. Addresses come from the runner; `sockets.py` is the only user of ZeroMQ here.

Invariants: messages to or from an earlier epoch of a shard are dropped; links stay in the outbox until they are durable
where they belong; the pages of all shards together never exceed the limit; all that the coordinator knows it can be told again.
"""
