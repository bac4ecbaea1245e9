"""All sites together: which host answers what."""

from collections.abc import Mapping

from rdfspider.demo.answers import Answer, DemoAddresses, DemoSite
from rdfspider.demo.sites import (
    blog,
    directory,
    events,
    library,
    moved,
    museum,
    places,
    portal,
    recipes,
    shop,
    town,
    university,
)

_MAKERS = {
    "www": directory.make_site,
    "shop": shop.make_site,
    "museum": museum.make_site,
    "university": university.make_site,
    "library": library.make_site,
    "blog": blog.make_site,
    "events": events.make_site,
    "recipes": recipes.make_site,
    "data": places.make_site,
    "portal": portal.make_site,
    "town": town.make_site,
    "mirror": museum.make_site,
    "old": moved.make_site,
}
_NO_HOST = Answer(b"No such site here.\n", "text/plain; charset=utf-8", 404)


class DemoWeb:
    """The sites at one port."""

    def __init__(self, port: int) -> None:
        self.at = DemoAddresses(port)
        self.sites: dict[str, DemoSite] = {name: make_site(self.at) for name, make_site in _MAKERS.items()}

    @property
    def start(self) -> str:
        """The page that leads to all sites."""
        return self.at.url("www")

    def answer(self, host: str, target: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a request: its Host, its path with the query, and its headers in lower case."""
        site = self.sites.get(host.partition(":")[0].lower().removesuffix(".localhost"))
        path, _, query = target.partition("?")
        return site.answer(path, query, headers) if site else _NO_HOST
