"""town: a newspaper with OpenGraph, and hCards of citizens. Pages use every kind of robots directive."""

import re
from html import escape

from rdfspider.demo.answers import DemoAddresses, DemoAnswer, DemoSite, link, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import ARTICLES, CITIZENS, FOLDERS_END, Article, Person, Secret, secrets_of

NOT_KEPT = ARTICLES[0]
"""The article that may be indexed, but not archived (noarchive)."""
_FOLDER = re.compile(r"/(?:archive/)+")
_CLOSED, _DRAFT, _EMBARGOED, _AUCTION, _LETTER, _FOLDERS = secrets_of("town")


def make_site(at: DemoAddresses) -> DemoSite:
    """The newspaper."""
    site = DemoSite("Harrowmere Herald", "User-agent: *\nDisallow: /council/closed/\nCrawl-delay: 0.1\n")
    ways = [(f"/articles/{article.key}", article.title) for article in ARTICLES]
    ways += [(f"/people/{person.key}", person.name) for person in CITIZENS]
    ways += [("/archive/", "Archive"), ("/letters", "Letters"), (_CLOSED.path, "For the council")]
    ways += [(_DRAFT.path, "In the making"), (_EMBARGOED.path, "Next week"), (_AUCTION.path, "Older notices")]
    site.add("/", "Front page", listing(ways))
    for article in ARTICLES:
        head = _write_opengraph(at, article)
        if article == NOT_KEPT:
            head += '<meta name="robots" content="noarchive">'
        content = f"<h1>{escape(article.title)}</h1><p>{describe(article.title)}</p>"
        about = listing(
            [(at.person(article.person), article.person.name), (at.place(article.place), article.place.name)]
        )
        site.add(f"/articles/{article.key}", article.title, content + about, head=head)
    for person in CITIZENS:
        site.add(f"/people/{person.key}", person.name, _write_hcard(at, person))
    site.add(_CLOSED.path, _CLOSED.name, "<p>Closed.</p>", head=_write_secret(_CLOSED))
    site.add(_DRAFT.path, _DRAFT.name, "<p>Draft.</p>", head=_write_secret(_DRAFT) + _ask("noindex, nofollow"))
    site.add(_EMBARGOED.path, _EMBARGOED.name, "<p>Wait.</p>", head=_write_secret(_EMBARGOED), headers=_tell("noindex"))
    ended = _tell("unavailable_after: 25 Jun 2019 15:00:00 GMT")
    site.add(_AUCTION.path, _AUCTION.name, "<p>Sold.</p>", head=_write_secret(_AUCTION), headers=ended)
    # The page itself may be indexed; nothing else links to its target.
    site.add("/letters", "Letters", link(_LETTER.path, "What readers wrote"), head=_ask("nofollow"))
    site.add(_LETTER.path, _LETTER.name, "<p>Sir!</p>", head=_write_secret(_LETTER))
    site.find_page = lambda path, query, headers: _find_folder(site, path)
    return site


def _find_folder(site: DemoSite, path: str) -> DemoAnswer | None:
    """The archive, which contains itself: a slash is missing in a link."""
    if not _FOLDER.fullmatch(path):
        return None
    head = _write_secret(_FOLDERS) if path.count("archive/") >= FOLDERS_END else ""
    links = listing([("archive/", "Older issues"), ("/articles/in-praise-of-mud", "From the archive")])
    return site.frame("Archive", links, head=head)


def _write_opengraph(at: DemoAddresses, article: Article) -> str:
    fields = {
        "og:type": "article",
        "og:title": article.title,
        "og:url": at.url("town", f"/articles/{article.key}"),
        "og:description": describe(article.title, "in short")[:120],
        "article:published_time": article.day.isoformat(),
    }
    graph = "".join(f'<meta property="{name}" content="{escape(value)}">\n' for name, value in fields.items())
    return f'{graph}<meta name="DC.creator" content="{article.person.name}">\n'


def _write_hcard(at: DemoAddresses, person: Person) -> str:
    return f"""<div class="vcard"><h1 class="fn">{person.name}</h1> <a class="url" href="/people/{person.key}">here</a>
<p class="adr"><span class="locality">{escape(person.home.name)}</span></p>
<p class="note">{describe(person.name, "town")}</p></div>"""


def _write_secret(secret: Secret) -> str:
    return f'<meta property="og:title" content="{secret.name}">\n'


def _ask(wish: str) -> str:
    return f'<meta name="robots" content="{wish}">\n'


def _tell(wish: str) -> tuple[tuple[str, str], ...]:
    return (("X-Robots-Tag", wish),)
