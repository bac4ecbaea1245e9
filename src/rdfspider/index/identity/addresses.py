"""Targets of `sameAs`: an IRI enters, the spellings under which it joins things leave; none for an address that says nothing.

A home page, the root of a social network, or a page such as `/about` and `/contact` is given as `sameAs` by many things that are
not the same. Addresses that differ only in `http` or `https`, `www.` or a last slash are one.
"""

import re
from functools import lru_cache
from urllib.parse import parse_qs

_ADDRESS = re.compile(r"https?://([^/?#\s@]+)([^?#\s]*)(\?[^#\s]*)?(#\S*)?")
_SOCIAL = {
    "facebook.com": "facebook.com",
    "fb.com": "facebook.com",
    "twitter.com": "x.com",
    "x.com": "x.com",
    **{
        host: host
        for host in (
            "instagram.com linkedin.com youtube.com youtu.be pinterest.com tiktok.com tumblr.com vimeo.com snapchat.com "
            "flickr.com reddit.com t.me telegram.me threads.net bsky.app vk.com xing.com medium.com soundcloud.com "
            "open.spotify.com github.com plus.google.com foursquare.com yelp.com wa.me whatsapp.com"
        ).split()
    },
}
"""Hosts of networks, without `www.` and `m.`, whose addresses are compared without regard to case and query."""
_SECTIONS = frozenset(
    "pages page company companies in pub school showcase channel c user users people profile profiles groups group p reel "
    "explore tag hashtag artist episode show photos public add".split()
)
"""First parts of a network's addresses that only say what follows."""
_GENERIC = frozenset(
    "home index default about about-us aboutus contact contact-us contactus imprint impressum privacy terms legal search login "
    "signin signup register share sharer intent feed rss news blog shop store en de fr es it nl pt jobs careers help faq "
    "support account settings undefined null watch download profile.php sharer.php".split()
)
"""Names of pages that are about no one thing."""
_SUFFIX = re.compile(r"\.(?:html?|php|aspx?|jsp)$")
_MAX_ADDRESS = 500


@lru_cache(maxsize=16_384)
def list_spellings(iri: str) -> tuple[str, ...]:
    """The spelling that all addresses of the target share, and the IRI itself if it differs and pages may describe it."""
    found = _ADDRESS.fullmatch(iri) if len(iri) <= _MAX_ADDRESS else None
    if found is None:
        return (iri,) if iri.startswith("urn:") and len(iri) <= _MAX_ADDRESS else ()
    host, path, query, fragment = found.groups(default="")
    host = host.lower().removeprefix("www.")
    network = _SOCIAL.get(host.removeprefix("m.").removeprefix("mobile."))
    parts = [part for part in path.split("/") if part]
    if network:
        name = _name_profile([part.lower() for part in parts], query)
        return (f"https://{network}/{name}",) if name else ()
    if not fragment and not query and all(_SUFFIX.sub("", part.lower()) in _GENERIC for part in parts):
        return ()
    if not parts and not (fragment and len(fragment) > 1):
        return ()
    common = f"https://{host}/{'/'.join(parts)}{query}{fragment if len(fragment) > 1 else ''}"
    return (common,) if common == iri else (common, iri)


def find_home(url: str) -> str:
    """The host of which an address is the home page, without `www.`; empty if it is another page, or a network's."""
    found = _ADDRESS.fullmatch(url) if len(url) <= _MAX_ADDRESS else None
    if found is None or found[2] not in ("", "/") or found[3] or found[4]:
        return ""
    host = found[1].lower().removeprefix("www.")
    return "" if host in _SOCIAL or ":" in host else host


def _name_profile(parts: list[str], query: str) -> str:
    """What is behind a network's host, if it names a profile or a thing; empty if it is only a section."""
    values = parse_qs(query[1:], max_num_fields=20) if query and query.count("&") < 20 else {}
    wanted = next((f"?{key}={values[key][0]}" for key in ("v", "id", "list") if values.get(key)), "")
    if wanted and parts and parts[-1] in ("watch", "profile.php", "playlist"):
        return f"{parts[-1]}{wanted}"
    names = [part for part in parts if part not in _SECTIONS]
    if not names or names[0] in _GENERIC or names[0].lstrip("@") == "":
        return ""
    return "/".join(parts[:4])
