"""The first page: the box to search with, and what there is to be found."""

from typing import Any

from rdfspider.errors import UsageError
from rdfspider.search.questions import find_statistics
from rdfspider.serve.views import Ask, Page, Table, View

_NAMES_SHOWN = 12


def show_home(ask: Ask) -> View:
    """Sums, and the names that are used most."""
    try:
        statistics = find_statistics(ask.site.folder, _NAMES_SHOWN)
    except UsageError:
        # Nothing is indexed yet, which is no mistake of whoever looks.
        statistics = None
    status = ask.site.crawl.status()
    data: dict[str, Any] = {"state": status.state, **(statistics.to_dict() if statistics else {})}
    kinds = ("classes", "properties", "ontologies", "sites")
    return View(
        "home.html",
        {"statistics": statistics, "status": status},
        data=lambda: data,
        table=lambda: Table(
            ("kind", "name", "uses", "pages", "sites"),
            [(kind, *count) for kind in kinds for count in (getattr(statistics, kind) if statistics else ())],
        ),
        nquads=lambda: statistics.to_ntriples() if statistics else b"",
    )


PAGES = (Page("/", show_home, "How much there is, and the names that are used most."),)
