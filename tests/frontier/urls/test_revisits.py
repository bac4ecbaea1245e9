"""The policy of revisits: a history in, the next visit out."""

import pytest

from rdfspider.config import CrawlConfig
from rdfspider.frontier.urls.revisits import VisitHistory, plan_visit

DAILY = CrawlConfig(revisit_s=86_400.0)


@pytest.mark.parametrize(
    ("history", "due"),
    [
        (VisitHistory(1000.0), 87_400.0),
        (VisitHistory(1000.0, modified=900.0), 87_400.0),
        # A sitemap says that it was modified since: at once.
        (VisitHistory(1000.0, modified=1001.0), 1000.0),
        (VisitHistory(90_000.0, 1000.0, is_changed=False), 176_400.0),
    ],
)
def test_pages_are_due_after_the_interval_or_when_a_sitemap_says_so(history: VisitHistory, due: float) -> None:
    assert plan_visit(history, DAILY) == due


def test_without_an_interval_nothing_is_ever_due() -> None:
    assert plan_visit(VisitHistory(1000.0, modified=2000.0), CrawlConfig()) == 0
