"""The namespaces of feeds in all their spellings, and the terms that element names become."""

from functools import lru_cache

from rdfspider.extract.dom import XHTML
from rdfspider.vocabulary.prefixes import DC, DCTERMS
from rdfspider.vocabulary.prefixes import PREFIXES as KNOWN

RSS = KNOWN["rss"]
ATOM = "http://www.w3.org/2005/Atom"
CONTENT = KNOWN["content"]
ENC = "http://purl.oclc.org/net/rss_2.0/enc#"
MEDIA = "http://search.yahoo.com/mrss/"
ITUNES = "http://www.itunes.com/dtds/podcast-1.0.dtd"
GEO = KNOWN["geo"]
GEORSS = "http://www.georss.org/georss/"
GML = "http://www.opengis.net/gml"
CC = KNOWN["cc"]
WFW = "http://wellformedweb.org/CommentAPI/"
FEEDBURNER = "http://rssnamespace.org/feedburner/ext/1.0"
ADMIN = "http://webns.net/mvcb/"
THREAD = "http://purl.org/syndication/thread/1.0"
SLASH = "http://purl.org/rss/1.0/modules/slash/"
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
RELATION = "http://www.iana.org/assignments/relation/"

CORE = frozenset(
    {
        "",
        RSS,
        ATOM,
        "http://purl.org/atom/ns#",
        "http://my.netscape.com/rdf/simple/0.9/",
        "http://channel.netscape.com/rdf/simple/0.9/",
        "http://my.netscape.com/publish/formats/rss-0.91.dtd",
        "http://backend.userland.com/rss",
        "http://backend.userland.com/rss2",
        "http://backend.userland.com/rss091",
        "http://backend.userland.com/rss092",
        "http://blogs.law.harvard.edu/tech/rss",
        "http://cyber.law.harvard.edu/rss/rss.html",
        "http://purl.org/net/rss1.1#",
        "http://purl.org/rss/2.0/",
        "http://purl.org/rss/1.0/modules/rss091#",
        "http://my.theinfo.org/changed/1.0/rss/",
        "http://purl.org/echo/",
        "http://purl.org/pie/",
        "http://purl.org/necho/",
        "uri/of/echo/namespace#",
    }
)
"""The namespaces of RSS and Atom themselves."""

ALIASES = {
    "http://purl.org/dc/elements/1.0/": DC,
    "http://purl.org/dc/elements/1.1": DC,
    "http://search.yahoo.com/mrss": MEDIA,
    "http://video.search.yahoo.com/mrss": MEDIA,
    "http://video.search.yahoo.com/mrss/": MEDIA,
    "http://tools.search.yahoo.com/mrss/": MEDIA,
    "http://www.itunes.com/dtds/podcast-1.0.dtd": ITUNES,
    "http://www.georss.org/georss": GEORSS,
    "http://www.georss.org/georss/10": GEORSS,
    "http://backend.userland.com/creativecommonsrssmodule": CC,
    "http://cyber.law.harvard.edu/rss/creativecommonsrssmodule.html": CC,
    "http://web.resource.org/cc/": CC,
    "http://www.w3.org/2003/01/geo/": GEO,
}
"""Namespaces by their other spellings, in lower case."""

PREFIXES = {
    "atom": ATOM,
    "cc": CC,
    "content": CONTENT,
    "creativecommons": CC,
    "dc": DC,
    "dcterms": DCTERMS,
    "feedburner": FEEDBURNER,
    "geo": GEO,
    "georss": GEORSS,
    "gml": GML,
    "itunes": ITUNES,
    "media": MEDIA,
    "slash": SLASH,
    "sy": SYNDICATION,
    "thr": THREAD,
    "wfw": WFW,
    "xhtml": XHTML,
}
"""The namespaces of prefixes that feeds use without declaring them."""


@lru_cache(maxsize=4096)
def term(namespace: str, local: str) -> str:
    """The term of a property; a namespace without a separator at its end gets one."""
    return f"<{namespace}{'' if namespace.endswith(('/', '#', ':', '=')) else '#'}{local}>"
