"""The blog, the newspaper, and the address that the newspaper had before."""

import re
from datetime import datetime
from email.utils import format_datetime
from html import escape

from rdfspider.demo.answers import DemoAddresses, DemoAnswer, DemoSite, alternate, link, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import ARTICLES, CITIZENS, FOLDERS_END, POSTS, Article, Person, Post, Secret, secrets_of

FEED_ONLY = POSTS[:4]
"""The posts that no page links to."""
_PAGE_POSTS = 10
(_CASINO,) = secrets_of("blog")

NOT_KEPT = ARTICLES[0]
"""The article that may be indexed, but not archived (noarchive)."""
_FOLDER = re.compile(r"/(?:archive/)+")
_CLOSED, _DRAFT, _EMBARGOED, _AUCTION, _LETTER, _FOLDERS = secrets_of("town")


def make_blog(at: DemoAddresses) -> DemoSite:
    """blog: posts as h-entry, with RSS and Atom feeds; the oldest posts are only in the Atom feed. Comments contain spam."""
    site = DemoSite("Bad Light", "User-agent: *\nDisallow:\n")
    feeds = alternate("/feed.rss", "application/rss+xml") + alternate("/feed.atom", "application/atom+xml")
    linked = [post for post in reversed(POSTS) if post not in FEED_ONLY]
    for page, start in enumerate(range(0, len(linked), _PAGE_POSTS), 1):
        more = [(f"/page/{page + 1}", "Older")] if start + _PAGE_POSTS < len(linked) else []
        posts = listing((f"/posts/{post.key}", post.title) for post in linked[start : start + _PAGE_POSTS])
        site.add("/" if page == 1 else f"/page/{page}", f"Bad Light, page {page}", posts + listing(more), head=feeds)
    for post in POSTS:
        site.add(f"/posts/{post.key}", post.title, _write_post(at, post), head=feeds)
    site.add_data("/feed.rss", _write_rss(at, POSTS[::-1][:10]), "application/rss+xml")
    site.add_data("/feed.atom", _write_atom(at, POSTS[::-1]), "application/atom+xml")
    site.add(_CASINO.path, _CASINO.name, f'<p class="h-card"><b class="p-name">{_CASINO.name}</b></p>')
    return site


def _write_post(at: DemoAddresses, post: Post) -> str:
    spam = link(_CASINO.path, "this", 'rel="ugc nofollow"')
    return f"""<article class="h-entry"><h1 class="p-name">{escape(post.title)}</h1>
<p><a class="p-author h-card" href="{at.author(post.author)}">{post.author.name}</a>,
<time class="dt-published" datetime="{post.day}">{post.day}</time>,
<a class="u-url" href="/posts/{post.key}">permalink</a></p>
<div class="e-content"><p>{describe(post.title)}</p></div>
<p>On <a class="u-in-reply-to" href="{at.book(post.book)}">{escape(post.book.title)}</a>.</p></article>
<section><h2>Comments</h2><p>Very true! Also see {spam}.</p></section>"""


def _write_rss(at: DemoAddresses, posts: tuple[Post, ...]) -> str:
    items = "".join(
        f"<item><title>{escape(post.title)}</title><link>{at.url('blog', f'/posts/{post.key}')}</link>"
        f"<pubDate>{format_datetime(datetime(*post.day.timetuple()[:3]))}</pubDate></item>\n"
        for post in posts
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<rss version="2.0"><channel><title>Bad Light</title>'
        f"<link>{at.url('blog')}</link><description>A blog about books</description>\n{items}</channel></rss>\n"
    )


def _write_atom(at: DemoAddresses, posts: tuple[Post, ...]) -> str:
    entries = "".join(
        f"""<entry><id>{(url := at.url("blog", f"/posts/{post.key}"))}</id><title>{escape(post.title)}</title>
<link rel="alternate" href="{url}"/><updated>{post.day}T08:00:00Z</updated>
<author><name>{post.author.name}</name></author></entry>
"""
        for post in posts
    )
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>{at.url("blog")}</id>'
        f"<title>Bad Light</title><updated>2026-03-01T08:00:00Z</updated>\n{entries}</feed>\n"
    )


def make_newspaper(at: DemoAddresses) -> DemoSite:
    """town: a newspaper with OpenGraph, and hCards of citizens. Pages use every kind of robots directive."""
    site = DemoSite("Harrowmere Herald", "User-agent: *\nDisallow: /council/closed/\nCrawl-delay: 0.1\n")
    menu = [(f"/articles/{article.key}", article.title) for article in ARTICLES]
    menu += [(f"/people/{person.key}", person.name) for person in CITIZENS]
    menu += [("/archive/", "Archive"), ("/letters", "Letters"), (_CLOSED.path, "For the council")]
    menu += [(_DRAFT.path, "In the making"), (_EMBARGOED.path, "Next week"), (_AUCTION.path, "Older notices")]
    site.add("/", "Front page", listing(menu))
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
        site.add(f"/people/{person.key}", person.name, _write_hcard(person))
    site.add(_CLOSED.path, _CLOSED.name, "<p>Closed.</p>", head=_write_secret(_CLOSED))
    site.add(_DRAFT.path, _DRAFT.name, "<p>Draft.</p>", head=_write_secret(_DRAFT) + _write_robots("noindex, nofollow"))
    site.add(
        _EMBARGOED.path,
        _EMBARGOED.name,
        "<p>Wait.</p>",
        head=_write_secret(_EMBARGOED),
        headers=_send_robots("noindex"),
    )
    ended = _send_robots("unavailable_after: 25 Jun 2019 15:00:00 GMT")
    site.add(_AUCTION.path, _AUCTION.name, "<p>Sold.</p>", head=_write_secret(_AUCTION), headers=ended)
    # The page itself may be indexed; nothing else links to its target.
    site.add("/letters", "Letters", link(_LETTER.path, "What readers wrote"), head=_write_robots("nofollow"))
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


def _write_hcard(person: Person) -> str:
    return f"""<div class="vcard"><h1 class="fn">{person.name}</h1> <a class="url" href="/people/{person.key}">here</a>
<p class="adr"><span class="locality">{escape(person.home.name)}</span></p>
<p class="note">{describe(person.name, "town")}</p></div>"""


def _write_secret(secret: Secret) -> str:
    return f'<meta property="og:title" content="{secret.name}">\n'


def _write_robots(directives: str) -> str:
    return f'<meta name="robots" content="{directives}">\n'


def _send_robots(directives: str) -> tuple[tuple[str, str], ...]:
    return (("X-Robots-Tag", directives),)


def make_old_newspaper(at: DemoAddresses) -> DemoSite:
    """old: the newspaper's former site. Everything redirects, some of it in a loop."""
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
