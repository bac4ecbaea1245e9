"""On a web with planted quality, the link graph leads to better pages, and away from farms.

The frontier and the graph are the real ones. `benchmarks/bench_esteem.py` has larger webs.
"""

from pathlib import Path

from tests.frontier.quality_simulation import Guide, QualityWeb, crawl_by_quality

from rdfspider.domains import Domains


def test_good_pages_come_first_and_farms_later(tmp_path: Path, domains: Domains) -> None:
    web = QualityWeb(7, sites=400)
    budget = web.pages // 8
    without = crawl_by_quality(web, tmp_path / "without", domains, budget)
    ours = crawl_by_quality(web, tmp_path / "ours", domains, budget, Guide.GRAPH)
    assert (without.rated, ours.rated) == (0, 2)
    assert ours.quality > 1.15 * without.quality
    assert ours.farm_share < 0.85 * without.farm_share


def test_where_quality_decides_nothing_nothing_is_lost(tmp_path: Path, domains: Domains) -> None:
    web = QualityWeb(8, sites=400, farms=0, has_signal=False)
    budget = web.pages // 8
    without = crawl_by_quality(web, tmp_path / "without", domains, budget)
    ours = crawl_by_quality(web, tmp_path / "ours", domains, budget, Guide.GRAPH)
    assert ours.rated
    assert ours.quality >= 0.97 * without.quality
