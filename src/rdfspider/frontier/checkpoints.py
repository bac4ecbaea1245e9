"""A copy of a frontier's tables while they are open: their folder enters, a folder of links leaves, without a sync of the disk.

RocksDB's own checkpoint syncs three files while the interpreter is locked, so that a busy disk holds up everything. This one only
links files, in a thread. It is what a killed process would leave: files of tables never change, and those that the list of files
(MANIFEST) names are not removed before the list says so. Hence a list that did not grow meanwhile, and all files that there were,
are one state; what was still being merged is not named in the list, and is removed when the copy is opened. The log of writes is
left out, so everything must be flushed, and nothing may be written meanwhile.
"""

import os
from pathlib import Path

_CURRENT = "CURRENT"
_LINKED = (".sst", ".json")
_OPTIONS = "OPTIONS-"


def link_tables(source: Path, target: Path) -> bool:
    """Make a new folder with the state of flushed tables; False if they were merged meanwhile, so that it is of no use."""
    target.mkdir()
    try:
        current = (source / _CURRENT).read_bytes()
        manifest = source / os.fsdecode(current.strip())
        edits = manifest.read_bytes()
        for path in source.iterdir():
            if path.suffix in _LINKED or path.name.startswith(_OPTIONS):
                os.link(path, target / path.name)
        is_same = (source / _CURRENT).read_bytes() == current and manifest.stat().st_size == len(edits)
    except FileNotFoundError:
        return False
    # They are not linked, as they change.
    (target / manifest.name).write_bytes(edits)
    (target / _CURRENT).write_bytes(current)
    return is_same
