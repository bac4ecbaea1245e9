"""Whatever a page holds, its copy is harmless: every element, attribute and address of it is one that we know."""

import random
import re
import time
from html.parser import HTMLParser

import pytest

from rdfspider.records import Capture, Page
from rdfspider.serve.sanitized_copies import MAX_BYTES, Copy, draw_tree, make_copy

URL = "https://a.example/folder/page"
TAGS = frozenset(
    "a abbr address article aside b bdi bdo big blockquote br caption center cite code col colgroup data dd del details dfn "
    "div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hgroup hr i ins kbd li main mark menu nav ol p pre q rp "
    "rt ruby s samp section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul "
    "var wbr".split()
)
ATTRIBUTES = frozenset("lang dir title id href rel colspan rowspan scope start value span datetime open".split())


class Reader(HTMLParser):
    """A parser of another make, which tells what it finds."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.others: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_comment(self, data: str) -> None:
        self.others.append(data)

    def handle_decl(self, decl: str) -> None:
        self.others.append(decl)

    def handle_pi(self, data: str) -> None:
        self.others.append(data)

    def unknown_decl(self, data: str) -> None:
        self.others.append(data)


def copy(body: str | bytes, content_type: str = "text/html; charset=utf-8", **headers: str) -> Copy:
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    fields = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return make_copy(Capture(Page(URL, data, content_type), 200, "OK", "1.1", fields, (), "", 0.0, 0.0, len(data)))


def check_harmless(html: str) -> None:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert set(reader.tags) <= TAGS
    assert not reader.others
    for name, value in reader.attributes:
        assert name in ATTRIBUTES
        if name == "href":
            assert re.match(r"/page\?url=https?://|#copy-", value), value
    assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff]", html)


HOSTILE = [
    "<script>alert(1)</script><p>seen",
    "<img src=x onerror=alert(1) alt='\"><script>alert(1)</script>'>",
    "<a href='javascript:alert(1)'>x</a><a href=' java\nscript:alert(1)'>x</a><a href='&#106;avascript:alert(1)'>x</a>",
    "<a href='data:text/html,<script>alert(1)</script>'>x</a><a href=vbscript:x>x</a><a href='blob:https://a.example/x'>x</a>",
    "<base href='javascript:alert(1)//'><a href='x'>x</a>",
    "<base href='//evil.example/'><a href='x'>x</a><link rel=stylesheet href=//evil.example/x.css>",
    "<meta http-equiv=refresh content='0;url=javascript:alert(1)'><p>x",
    "<body onload=alert(1) background=//evil.example/x><p style='background:url(//evil.example)' onmouseover=alert(1)>x",
    "<form action=//evil.example><input autofocus onfocus=alert(1)><button formaction=javascript:alert(1)>go</button></form>",
    "<iframe srcdoc='<script>alert(1)</script>' src=//evil.example></iframe><object data=x></object><embed src=x>",
    "<svg><script>alert(1)</script><a xlink:href='javascript:alert(1)'><text>x</text></a><foreignObject><p>x</svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg><math><mtext><img src=x onerror=alert(1)></mtext></math>",
    # Markup that changes when it is parsed again.
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
    "<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea><img title='</textarea><img src=x onerror=alert(1)>'></textarea><title><b>x</title>",
    "<xmp><script>alert(1)</script></xmp><listing><b>x</listing><noembed><img src=x></noembed><noframes><b></noframes>",
    "<select><template><style><!--</style><a rel='--></style></template></select><img id=x src onerror=alert(1)>'>",
    "<template><template><script>alert(1)</script></template><img src=x onerror=alert(1)></template><p>x",
    "<div><template shadowrootmode=open><script>alert(1)</script><p>x</template></div>",
    "<!--><script>alert(1)</script>--><!-- --!><img src=x onerror=alert(1)> --><![CDATA[<script>alert(1)</script>]]><?php x ?>",
    "<p>before<plaintext><script>alert(1)</script></plaintext><b>",
    "<p \"='x' =x <script>=1 on\x00click=alert(1) xmlns:x=y x:href=z>x",
    "<scr\x00ipt>alert(1)</scr\x00ipt><p>a\x00b\x0cc\x1bd",
    "<p id='\" onclick=alert(1) x=\"' title='\"><script>alert(1)</script>' lang='en\" onclick=x' dir='x'>x",
    "<a name='\"><script>' href='#\"><script>alert(1)</script>'>x</a>",
    "<frameset onload=alert(1)><frame src=javascript:alert(1)></frameset>",
    "<table><tr><td colspan='1\" onclick=x'><script>alert(1)</script><td background=x><a href=/y>y</a></table>",
    "<video poster=x><source onerror=alert(1)></video><audio src=x controls><p>x</audio><details ontoggle=alert(1) open>x",
    "<isindex action=javascript:alert(1) prompt=x><marquee onstart=alert(1)>x</marquee><x-y onclick=alert(1)>z</x-y>",
]


@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_markup_can_do_nothing(body: str) -> None:
    check_harmless(copy(body).html)
    found = copy(f"<p>seen</p>{body}")
    assert "seen" in found.html
    check_harmless(found.html)
    # What is read from it again is as harmless: nothing hides in how it is written.
    check_harmless(copy(found.html).html)


def test_random_pieces_of_markup_can_do_nothing() -> None:
    chance = random.Random(8)
    pieces = [piece for body in HOSTILE for piece in re.findall(r"<[^<>]*>?|[^<]+", body)] + [
        "<",
        ">",
        "'",
        '"',
        "/>",
        "-->",
        "]]>",
    ]
    for _ in range(300):
        check_harmless(copy("".join(chance.choices(pieces, k=chance.randint(1, 40)))).html)


def test_a_page_that_nests_a_million_characters_deep_is_shown() -> None:
    started = time.process_time()
    found = copy("<div>" * 200_000 + "<p>seen")
    check_harmless(found.html)
    assert "seen" in found.html
    assert time.process_time() - started < 30


def test_words_and_order_stay() -> None:
    html = copy(
        "<h1>Tea &amp; more</h1><p>Green <b>tea</b>, 3 < 4<br>Ask.<ul><li>one<li>two</ul><x-card>three</x-card>"
    ).html
    assert (
        html == "<h1>Tea &amp; more</h1><p>Green <b>tea</b>, 3 &lt; 4<br>Ask.</p><ul><li>one</li><li>two</li></ul>three"
    )


def test_links_lead_to_what_is_known_of_their_pages() -> None:
    html = copy(
        "<base href='/b/'><a href='c?x=1&amp;y=2#z'>1</a><a href='#part'>2</a><h2 id=part>x</h2><a href=mailto:a@b.example>3</a>"
    ).html
    assert '<a href="/page?url=https://a.example/b/c%3Fx%3D1%26y%3D2" rel="noopener nofollow">1</a>' in html
    assert '<a href="#copy-part">2</a><h2 id="copy-part">' in html
    assert "<a>3</a>" in html


def test_data_is_shown_as_text() -> None:
    found = copy('<a:x> <a:y> "<script>alert(1)</script>" .\n', "text/turtle")
    assert found.html == "<pre>&lt;a:x&gt; &lt;a:y&gt; &#34;&lt;script&gt;alert(1)&lt;/script&gt;&#34; .\n</pre>"
    xml = copy("<?xml version='1.0'?><x:r xmlns:x='a:b'><x:script>x</x:script></x:r>", "application/xml")
    check_harmless(xml.html)
    assert copy(b"\x89PNG\r\n\x1a\n\x00\x00", "image/png").is_binary


@pytest.mark.parametrize("wish", ["noarchive", "none", "noindex"])
def test_who_asks_for_it_is_not_shown(wish: str) -> None:
    for found in (copy(f"<meta name=robots content='{wish}'><p>secret"), copy("<p>secret", X_Robots_Tag=wish)):
        assert found == Copy("text/html", is_refused=True)
    assert not copy("<p>open", X_Robots_Tag=f"otherbot: {wish}").is_refused


def test_long_pages_are_cut() -> None:
    found = copy("<p>word</p><!--" + "x" * MAX_BYTES)
    assert found.is_cut
    from rdfspider.extract.dom import parse_html

    short, is_whole = draw_tree(parse_html("<div><p>" + "word " * 100 + "</p><p>more</p></div>"), URL, 50)
    assert (short.count("<p>"), short[-6:], is_whole) == (1, "</div>", False)
