import pickle
from pathlib import Path

import pytest

from rdfspider.linked_documents import FolderDocuments


@pytest.fixture
def documents(tmp_path: Path) -> FolderDocuments:
    (tmp_path / "secret").write_bytes(b"secret")
    folder = tmp_path / "documents"
    for name in ("e.org/ns/context", "e.org/plain.jsonld", "e.org/index.jsonld", "e.org/a b"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(name.encode())
    return FolderDocuments(folder)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://e.org/ns/context", "e.org/ns/context"),
        ("http://e.org/ns/context#fragment", "e.org/ns/context"),
        ("https://e.org/plain", "e.org/plain.jsonld"),
        ("https://e.org/", "e.org/index.jsonld"),
        ("https://E.org", "e.org/index.jsonld"),
        ("https://e.org/a%20b", "e.org/a b"),
    ],
)
def test_documents_that_are_there(documents: FolderDocuments, url: str, name: str) -> None:
    assert documents(url) == name.encode()


@pytest.mark.parametrize(
    "url",
    [
        "https://e.org/none",
        "https://other.org/",
        "file:///etc/passwd",
        "https://e.org/../../secret",
        "https://../secret",
        "https://e.org/%2e%2e/%2e%2e/secret",
        "https://e.org/%00",
        "https://[",
        "e.org/ns/context",
        "x" * 99_999,
    ],
)
def test_documents_that_are_not(documents: FolderDocuments, url: str) -> None:
    assert documents(url) is None


def test_it_can_be_sent_to_another_process(documents: FolderDocuments) -> None:
    assert pickle.loads(pickle.dumps(documents)) == documents
