"""The media types that rdfspider knows: what a header or a file name says, as the kind of reader that takes it."""

from rdfspider.records import ContentKind

KINDS: dict[str, ContentKind] = {
    "text/html": ContentKind.HTML,
    "application/xhtml+xml": ContentKind.HTML,
    "application/vnd.wap.xhtml+xml": ContentKind.HTML,
    "application/xml": ContentKind.XML,
    "text/xml": ContentKind.XML,
    "image/svg+xml": ContentKind.XML,
    "application/mathml+xml": ContentKind.XML,
    "application/rss+xml": ContentKind.FEED,
    "application/atom+xml": ContentKind.FEED,
    "application/rdf+xml": ContentKind.RDF,
    "text/turtle": ContentKind.RDF,
    "application/trig": ContentKind.RDF,
    "application/n-triples": ContentKind.RDF,
    "application/n-quads": ContentKind.RDF,
    "text/n3": ContentKind.RDF,
    "application/ld+json": ContentKind.JSON,
    "application/json": ContentKind.JSON,
    "text/plain": ContentKind.TEXT,
    "text/csv": ContentKind.TEXT,
    "text/css": ContentKind.TEXT,
    "text/javascript": ContentKind.TEXT,
    "text/markdown": ContentKind.TEXT,
}

ALIASES = {
    "application/x-turtle": "text/turtle",
    "application/turtle": "text/turtle",
    "application/x-trig": "application/trig",
    "text/x-nquads": "application/n-quads",
    "application/nquads": "application/n-quads",
    "text/nquads": "application/n-quads",
    "text/ntriples": "application/n-triples",
    "text/nt": "application/n-triples",
    "application/ntriples": "application/n-triples",
    "text/rdf+n3": "text/n3",
    "application/n3": "text/n3",
    "text/rdf": "application/rdf+xml",
    "application/rdf": "application/rdf+xml",
    "text/rdf+xml": "application/rdf+xml",
    "application/owl+xml": "application/xml",
    "application/x-rss+xml": "application/rss+xml",
    "text/rss+xml": "application/rss+xml",
    "application/rss": "application/rss+xml",
    "text/atom+xml": "application/atom+xml",
    "text/json": "application/json",
    "application/x-json": "application/json",
    "application/javascript": "text/javascript",
    "application/x-javascript": "text/javascript",
}

EXTENSIONS = {
    "html": "text/html",
    "htm": "text/html",
    "xhtml": "application/xhtml+xml",
    "xht": "application/xhtml+xml",
    "xml": "application/xml",
    "svg": "image/svg+xml",
    "rss": "application/rss+xml",
    "atom": "application/atom+xml",
    "rdf": "application/rdf+xml",
    "owl": "application/rdf+xml",
    "rdfs": "application/rdf+xml",
    "ttl": "text/turtle",
    "trig": "application/trig",
    "nt": "application/n-triples",
    "nq": "application/n-quads",
    "n3": "text/n3",
    "jsonld": "application/ld+json",
    "json": "application/json",
    "txt": "text/plain",
    "csv": "text/csv",
    "css": "text/css",
    "js": "text/javascript",
    "md": "text/markdown",
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "pdf": "application/pdf",
    "mp4": "video/mp4",
    "mp3": "audio/mpeg",
    "zip": "application/zip",
}

# Types that servers send when they do not know; content and file name decide then.
VAGUE = frozenset(
    {
        "",
        "text/plain",
        "application/octet-stream",
        "binary/octet-stream",
        "application/unknown",
        "unknown/unknown",
        "*/*",
    }
)

SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"OggS", "application/ogg"),
    (b"ID3", "audio/mpeg"),
    (b"\x00asm", "application/wasm"),
    (b"wOFF", "font/woff"),
    (b"wOF2", "font/woff2"),
    (b"\x7fELF", "application/x-executable"),
)

# XML by its root element: (namespace or None for any, local name) → (media type, kind).
ROOTS: dict[tuple[str | None, str], tuple[str, ContentKind]] = {
    ("http://www.w3.org/1999/xhtml", "html"): ("application/xhtml+xml", ContentKind.HTML),
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", "RDF"): ("application/rdf+xml", ContentKind.RDF),
    (None, "rss"): ("application/rss+xml", ContentKind.FEED),
    (None, "feed"): ("application/atom+xml", ContentKind.FEED),
    (None, "urlset"): ("application/xml", ContentKind.SITEMAP),
    (None, "sitemapindex"): ("application/xml", ContentKind.SITEMAP),
    ("http://www.w3.org/2000/svg", "svg"): ("image/svg+xml", ContentKind.XML),
}

FEED_NAMESPACES = (
    b"http://purl.org/rss/1.0/",
    b"http://my.netscape.com/rdf/simple/0.9/",
    b"http://my.netscape.com/publish/formats/rss-0.9",
    b"http://channel.netscape.com/rdf/simple/0.9/",
)
"""An RDF/XML document that declares one of these is a feed (RSS 0.90 or 1.0)."""
