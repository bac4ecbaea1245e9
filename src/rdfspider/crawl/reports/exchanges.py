"""What only the archive has on record of an exchange: where a metadata record is enters, an Exchange leaves."""

from pathlib import Path
from typing import NamedTuple

from rdfspider.archive.reader import Archive
from rdfspider.errors import UsageError

# The fields that are looked for come before the links of a page, of which there may be many.
_MAX_BYTES = 64 * 1024
_REDIRECT_END = " R Location:"


class Exchange(NamedTuple):
    """Empty where nothing is on record."""

    target: str = ""
    """Where a redirect leads."""
    truncated: str = ""
    """Why the body is not whole: length, time, disconnect or unwanted."""
    wishes: str = ""
    """What the answer asks of crawlers, and who says so."""


def read_exchange(path: Path, offset: int) -> Exchange:
    """What the metadata record in this file says; nothing where the file, or the record, cannot be read."""
    try:
        with Archive(path) as archive:
            if offset >= archive.size:
                return Exchange()
            _, records = archive.open_at(offset)
            record = next(records, None)
            block: bytes = record.reader.read(_MAX_BYTES) if record else b""
    except (OSError, ValueError, UsageError):
        return Exchange()
    fields = [line.partition(": ") for line in block.decode("utf-8", "replace").split("\r\n")]
    targets = (value for name, _, value in fields if name == "outlink" and value.endswith(_REDIRECT_END))
    return Exchange(
        next(targets, "").removesuffix(_REDIRECT_END),
        next((value for name, _, value in fields if name == "truncated"), ""),
        next((value for name, _, value in fields if name == "robots"), ""),
    )
