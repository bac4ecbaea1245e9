"""Whether everything in a crawl's folder can be read and agrees: the folder enters, Findings leave. Nothing is written.

Frontier, archive, indexes and status are checked one after the other, and what is damaged does not keep the rest from being
checked.
"""

from collections.abc import Iterator
from pathlib import Path

from rdfspider.crawl.folder import is_half_made, is_in_use, list_shards
from rdfspider.crawl.status import read_status
from rdfspider.errors import InUseError, UsageError
from rdfspider.index.layout import IndexPaths
from rdfspider.index.status import is_indexed
from rdfspider.places.records import list_away
from rdfspider.repair.findings import Finding
from rdfspider.repair.folder_checks import check_seeds, check_settings, check_status, load_settings
from rdfspider.repair.index_checks import check_indexes
from rdfspider.repair.shard_checks import ShardFolder, check_shard, has_begun, has_seeds


def verify_crawl(folder: Path, *, is_deep: bool = False) -> Iterator[Finding]:
    """Find what is damaged. Without `is_deep`, files are opened and their lengths compared; with it, every record and every row
    is read. Raise UsageError if there is no crawl, InUseError if it runs or is being indexed."""
    if not list_shards(folder):
        raise UsageError(f"{folder} is not a crawl: it has no shards")
    if is_half_made(folder):
        raise UsageError(
            f"{folder} is not a crawl yet: it was not made to its end, which the next `rdfspider crawl` does"
        )
    check_unused(folder)
    return _verify(folder, is_deep)


def check_unused(folder: Path) -> None:
    """Raise InUseError if a crawl, an import or an indexer changes the folder."""
    if is_in_use(folder) or is_indexed(IndexPaths(folder)):
        raise InUseError(f"{folder} is in use: stop the crawl, or wait until it is indexed")


def _verify(folder: Path, is_deep: bool) -> Iterator[Finding]:
    yield from check_settings(folder)
    config = load_settings(folder)
    # Of shards in other places, the folder has copies alone.
    away = set(list_away(folder))
    shards = [ShardFolder(folder, number, config) for number in list_shards(folder) if number not in away]
    yield from check_seeds(folder, any(map(has_seeds, shards)))
    run = {beat.shard for beat in read_status(folder).shards}
    for shard in shards:
        if has_begun(shard, run):
            yield from check_shard(shard, is_deep=is_deep)
    yield from check_indexes(folder, config, is_deep=is_deep)
    yield from check_status(folder)
