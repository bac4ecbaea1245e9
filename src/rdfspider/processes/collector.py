"""How often Python looks for cycles in a process that is all ours: a shard, or the indexer."""

import gc

# Objects that are new, and how often each generation is looked through before the next: Python's own are (700, 10, 10).
_COLLECTOR = (5_000, 20, 50)


def calm_collector() -> None:
    """Look for cycles among what is new alone, and seldom: what is loaded by now is kept, and pages come and go without any.
    To look as often as Python does takes a tenth of an indexer's time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTOR)
