"""Words for SPARQL: many look for them at once, and nobody waits for ever."""

from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider.errors import UnansweredError
from rdfspider.search import text_service
from rdfspider.search.text_service import Finder


def test_who_does_not_come_to_look_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tea = {"@context": "https://schema.org", "@id": "#tea", "@type": "Product", "name": "Green tea"}
    crawl = index_pages(tmp_path / "c", {"https://tea.example/": tea})
    find = Finder(crawl.folder)
    assert [iri for iri, _ in find("kind:entity tea", 10)] == ["https://tea.example/#tea"]
    monkeypatch.setattr(text_service, "_TURN_S", 0.05)
    with find._lock, pytest.raises(UnansweredError, match="others are looking for words"):
        find("tea", 10)
    assert find("tea", 10)
    find.close()
