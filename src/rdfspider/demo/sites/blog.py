"""blog: posts as h-entry, with RSS and Atom feeds; the oldest posts are only in the Atom feed. Comments contain spam."""

from datetime import datetime
from email.utils import format_datetime
from html import escape

from rdfspider.demo.answers import DemoAddresses, DemoSite, alternate, link, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import POSTS, Post, secrets_of

FEED_ONLY = POSTS[:4]
"""The posts that no page links to."""
_PAGE_POSTS = 10
(_CASINO,) = secrets_of("blog")


def make_site(at: DemoAddresses) -> DemoSite:
    """The blog."""
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
