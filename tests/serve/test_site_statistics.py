"""Counts that are kept: until there are others, and no longer."""

import os
from pathlib import Path

import pytest

from indexed import index_pages
from rdfspider.index.layout import IndexPaths
from rdfspider.serve import site
from rdfspider.serve.site import KeptStatistics


def test_counts_are_kept_until_the_ledger_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "_KEPT_S", 3600.0)
    kept = KeptStatistics(tmp_path / "c")
    assert kept.read() is None
    index_pages(tmp_path / "c", {"https://tea.example/": {"@context": "https://schema.org", "@type": "Product"}})
    first = kept.read()
    assert first is not None
    assert first.totals.pages == 1
    ledger = IndexPaths(tmp_path / "c").ledger
    os.utime(ledger, (1, 1))
    # Within seconds nobody looks.
    assert kept.read() is first
    monkeypatch.setattr(site, "_KEPT_S", 0.0)
    second = kept.read()
    assert second is not first
    assert kept.read() is second
