"""Keys of a crawl: made once, for their owner alone."""

from pathlib import Path

import pytest

from rdfspider import UsageError
from rdfspider.places.keys import load_keys


def test_keys_are_made_once_and_only_their_owner_reads_them(tmp_path: Path) -> None:
    keys = load_keys(tmp_path, 3)
    assert load_keys(tmp_path, 3) == keys
    assert (tmp_path / "keys").stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "keys").iterdir()] == [0o600]
    assert len({keys.coordinator, *keys.shards}) == 4


def test_a_shard_gets_no_secret_but_its_own(tmp_path: Path) -> None:
    keys = load_keys(tmp_path, 3)
    told = repr(keys.of_shard(1))
    assert keys.shards[1].secret.decode() in told
    for pair in (keys.coordinator, keys.shards[0], keys.shards[2]):
        assert pair.secret.decode() not in told
        assert pair.public.decode() in told


@pytest.mark.parametrize("name", ["keys", "keys/curve.json"])
def test_keys_that_others_can_read_are_refused(tmp_path: Path, name: str) -> None:
    load_keys(tmp_path, 1)
    (tmp_path / name).chmod(0o755)
    with pytest.raises(UsageError, match="other users may read it"):
        load_keys(tmp_path, 1)


@pytest.mark.parametrize("body", ["", "{}", '{"coordinator": "short", "shards": []}'])
def test_a_damaged_file_of_keys_is_told(tmp_path: Path, body: str) -> None:
    load_keys(tmp_path, 1)
    (tmp_path / "keys/curve.json").write_text(body)
    with pytest.raises(UsageError, match="remove it, and new ones are made"):
        load_keys(tmp_path, 1)
