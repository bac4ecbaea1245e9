"""Whose backup a store is: copies of real folders, without a crawl."""

import re
from pathlib import Path

import msgspec
import pytest

from object_stores import place, s3_server
from rdfspider import Crawl
from rdfspider.backup.manifests import (
    HEAD,
    SupersededError,
    check_epoch,
    find_newest,
    list_places,
    manifest_key,
    name_shard,
)
from rdfspider.backup.objects import Objects
from rdfspider.backup.shipment import Shipper, Snapshot, begin_shipper
from rdfspider.crawl.folder import identify_crawl
from rdfspider.errors import UsageError
from rdfspider.run import head
from rdfspider.run.backups import restore_shard, take_head
from rdfspider.run.head import lead
from rdfspider.run.store_owner import check_owner, claim_store

__all__ = ["place", "s3_server"]  # fixtures

OWN, OTHER = "0123456789abcdef", "fedcba9876543210"


def make_crawl(folder: Path, seed: str = "http://a.test/") -> str:
    return identify_crawl(Crawl.create(folder, seed, shards=1).folder)


def send_head(objects: Objects, folder: Path, crawl: str = "") -> None:
    begin_shipper(objects, HEAD, (0, 0), crawl=crawl).ship(take_head(folder))


def send_shard(objects: Objects, crawl: str) -> None:
    begin_shipper(objects, name_shard(0), (1, 1), crawl=crawl).ship(Snapshot(1.0, (1, 1)))


def read_owner(objects: Objects) -> bytes:
    return objects.read("crawl")


@pytest.mark.parametrize("owner", [OTHER.encode(), b"", b"damaged"])
def test_a_store_to_which_nothing_was_sent_may_be_taken(place: str, owner: bytes) -> None:
    """As by a crawl that ended before it had sent anything, or with the machine."""
    objects = Objects(place)
    objects.put("crawl", [owner])
    claim_store(objects, OWN)
    assert read_owner(objects) == OWN.encode()


def test_the_first_crawl_learns_that_its_store_was_taken(tmp_path: Path) -> None:
    first, second, store = tmp_path / "first", tmp_path / "second", str(tmp_path / "store")
    for folder in (first, second):
        make_crawl(folder)
    objects = Objects(store)
    life = lead(first, store)
    later = lead(second, store)
    # It does not ask any server before the first one has ended.
    assert later.is_elsewhere
    check_epoch(objects, HEAD, later.epoch)
    with pytest.raises(SupersededError):
        check_epoch(objects, HEAD, life.epoch)
    with pytest.raises(SupersededError):
        Shipper(objects, HEAD, life.epoch).ship(take_head(first))
    assert list_places(objects, HEAD) == []
    send_head(objects, second, identify_crawl(second))
    with pytest.raises(UsageError, match="another crawl"):
        lead(first, store)


def test_of_two_that_take_a_store_at_once_none_leads_in_that_of_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, folder = str(tmp_path / "store"), tmp_path / "crawl"
    crawl = make_crawl(folder)
    objects = Objects(store)

    def claim_first(objects: Objects, own: str) -> None:
        claim_store(objects, own)
        claim_store(objects, OTHER)

    monkeypatch.setattr(head, "claim_store", claim_first)
    with pytest.raises(UsageError, match="has the backup of another crawl"):
        lead(folder, store)
    assert not (folder / "lives" / "head.json").exists()
    check_owner(objects, OTHER)
    assert crawl != OTHER


def test_what_the_first_crawl_still_wrote_is_no_state_of_the_second(tmp_path: Path) -> None:
    objects = Objects(str(tmp_path / "store"))
    send_shard(objects, OTHER)
    assert restore_shard(objects, tmp_path / "own", 0, crawl=OWN) is None
    assert not (tmp_path / "own").exists()
    # Nor is it a later state.
    begin_shipper(objects, name_shard(0), (0, 5), crawl=OWN)
    assert restore_shard(objects, tmp_path / "other", 0, crawl=OTHER) is not None


@pytest.mark.parametrize("owner", [None, b"", b"damaged", OTHER.encode()])
@pytest.mark.parametrize("is_earlier", [False, True])
def test_settings_that_were_sent_tell_whose_store_it_is(tmp_path: Path, owner: bytes | None, is_earlier: bool) -> None:
    """Also where the object that tells it is missing, as in stores of an earlier version, or damaged."""
    folder, objects = tmp_path / "crawl", Objects(str(tmp_path / "store"))
    crawl = make_crawl(folder)
    if is_earlier:
        settings = folder / "crawl.toml"
        settings.write_text(re.sub("^id = .*\n", "", settings.read_text(), flags=re.MULTILINE))
        crawl = identify_crawl(folder)
    send_head(objects, folder)
    if owner is not None:
        objects.put("crawl", [owner])
    with pytest.raises(UsageError, match="has the backup of another crawl"):
        claim_store(objects, OWN)
    assert objects.measure("crawl") == (None if owner is None else len(owner))
    claim_store(objects, crawl)
    assert read_owner(objects) == crawl.encode()


def test_a_store_whose_owner_cannot_be_told_says_what_to_do(tmp_path: Path) -> None:
    folder, objects = tmp_path / "crawl", Objects(str(tmp_path / "store"))
    crawl = make_crawl(folder)
    send_shard(objects, crawl)
    objects.put("crawl", [b""])
    with pytest.raises(
        UsageError, match=r"the object crawl, .* is damaged; name another URL, or remove that object if"
    ):
        claim_store(objects, crawl)
    objects.put("crawl", [OTHER.encode()])
    with pytest.raises(UsageError, match="has the backup of another crawl"):
        claim_store(objects, crawl)
    objects.delete(["crawl"])
    claim_store(objects, crawl)
    send_head(objects, folder)
    newest = find_newest(objects, HEAD)
    assert newest is not None
    objects.put(newest.files["crawl.toml"].key, [b"\xff"])
    objects.put("crawl", [b""])
    with pytest.raises(UsageError, match=r"crawl\.toml is damaged there; name another URL, or see `rdfspider verify"):
        claim_store(objects, crawl)
    # Where only the last copy is damaged, the one before it tells whose it is.
    objects.put(newest.files["crawl.toml"].key, [(folder / "crawl.toml").read_bytes()])
    later = msgspec.structs.replace(newest, number=newest.number + 1, files={})
    objects.create(manifest_key(HEAD, later.place), msgspec.json.encode(later))
    claim_store(objects, crawl)
    assert read_owner(objects) == crawl.encode()


def test_a_crawl_with_other_seeds_is_not_restored_in_place_of_a_new_one(tmp_path: Path) -> None:
    """Whoever mistypes the URL of a store must not end the crawl that uses it."""
    folder, store, new = tmp_path / "crawl", tmp_path / "store", tmp_path / "new"
    crawl = make_crawl(folder)
    objects = Objects(str(store))
    claim_store(objects, crawl)
    send_head(objects, folder, crawl)
    before = sorted(store.rglob("*"))
    with pytest.raises(UsageError, match=r"has the backup of a crawl without the seed http://b\.test/; name another"):
        Crawl.create(new, ["http://a.test/", "http://b.test/"], backup_url=str(store))
    assert not new.exists()
    assert sorted(store.rglob("*")) == before
    # The same command again, or one without seeds, means that crawl.
    for name, seeds in (("same", "http://a.test"), ("none", ())):
        assert identify_crawl(Crawl.create(tmp_path / name, seeds, backup_url=str(store)).folder) == crawl
    file = tmp_path / "seeds.txt"
    file.write_text("http://a.test/  # the same\n")
    assert identify_crawl(Crawl.create(tmp_path / "file", seeds_file=file, backup_url=str(store)).folder) == crawl
