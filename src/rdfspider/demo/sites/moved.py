"""old: the newspaper's former site. Everything redirects, some of it in a loop."""

from rdfspider.demo.answers import DemoAddresses, DemoSite
from rdfspider.demo.world import ARTICLES


def make_site(at: DemoAddresses) -> DemoSite:
    """The old URLs."""
    site = DemoSite("Harrowmere Herald, moved", "User-agent: *\nDisallow:\n")
    site.add_redirect("/", "/home")
    site.add_redirect("/home", "/start", 302)
    site.add_redirect("/start", "/contents", 308)
    links = [f'<a href="/{article.key}.html">{article.key}</a>' for article in ARTICLES[:6]]
    site.add(
        "/contents", "We have moved", " ".join(links) + '<a href="/loop/1">circle</a><a href="/2019/lost">lost</a>'
    )
    for article in ARTICLES[:6]:
        site.add_redirect(f"/{article.key}.html", at.url("town", f"/articles/{article.key}"))
    site.add_redirect("/loop/1", "/loop/2")
    site.add_redirect("/loop/2", "/loop/1")
    return site
