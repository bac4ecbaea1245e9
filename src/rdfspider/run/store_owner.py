"""Whose backup a store is: a store and the identity of a crawl enter, a refusal leaves if it is another crawl's.

The settings in the last copy of the crawl's small files say it. Before there is one, the object `crawl` does. Of crawls that
begin with one empty store at once, the one that makes this object goes on.
"""

import tomllib
from collections.abc import Collection, Iterator

from rdfspider.backup.manifests import HEAD, find_members, list_places, read_manifest
from rdfspider.backup.objects import Objects
from rdfspider.crawl.folder import SEEDS, identify_fixed, is_identity
from rdfspider.crawl.settings import FILE, FIXED
from rdfspider.errors import AwayError, OtherVersionError, UnreadableError, UsageError

_OWNER = "crawl"


def claim_store(objects: Objects, crawl: str) -> None:
    """Make a store that of a crawl, by its identity; UsageError if it is another's, which would be replaced by this one. A store
    to which nothing was sent may be taken by any."""
    owner = _read_owner(objects)
    if owner == crawl:
        return
    members = find_members(objects)
    if HEAD in members:
        if _identify_backup(objects) != crawl:
            raise _refuse(objects)
    elif members and owner is not None:
        if is_identity(owner):
            raise _refuse(objects)
        raise UsageError(
            f"{objects.url}: the object {_OWNER}, which says whose backup this is, is damaged; name another URL, or remove that "
            "object if all else there is of this crawl"
        )
    if owner is not None:
        objects.delete([_OWNER])
    if not objects.create(_OWNER, crawl.encode()):
        check_owner(objects, crawl)


def check_owner(objects: Objects, crawl: str) -> None:
    """Raise UsageError if another crawl has taken the store meanwhile."""
    if _read_owner(objects) != crawl:
        raise _refuse(objects)


def check_seeds(objects: Objects, seeds: Collection[str]) -> None:
    """Raise UsageError if a crawl with other seeds than these has its backup in the store: who names them does not mean that
    crawl."""
    stored = next(_read_copies(objects, SEEDS), None)
    if stored is None:
        return
    known = set(stored.decode(errors="replace").split())
    if other := next((seed for seed in seeds if seed not in known), None):
        raise UsageError(
            f"{objects.url} has the backup of a crawl without the seed {other}; name another URL for a new crawl, or no seeds to "
            "go on with that one"
        )


def _read_owner(objects: Objects) -> str | None:
    try:
        return objects.read(_OWNER).decode(errors="replace")
    except AwayError:
        raise
    except UnreadableError:
        return None


def _identify_backup(objects: Objects) -> str:
    """Return the identity of the crawl whose small files were sent; UnreadableError if their copies do not tell it."""
    for body in _read_copies(objects, FILE):
        try:
            return identify_fixed(tomllib.loads(body.decode())[FIXED])
        except (ValueError, KeyError, AttributeError):
            continue
    raise UnreadableError(
        f"{objects.url}: whose backup this is cannot be told, as {FILE} is damaged there; name another URL, or see "
        f"`rdfspider verify --backup {objects.url}`"
    )


def _read_copies(objects: Objects, name: str) -> Iterator[bytes]:
    """Read the copies of a small file that are there, the newest first."""
    for place in reversed(list_places(objects, HEAD)):
        try:
            yield objects.read(read_manifest(objects, HEAD, place).files[name].key)
        except OtherVersionError:
            raise
        except (UnreadableError, KeyError):
            continue


def _refuse(objects: Objects) -> UsageError:
    return UsageError(
        f"{objects.url} has the backup of another crawl; name another URL, or get that crawl with "
        f"`rdfspider restore {objects.url} --dir NEW`"
    )
