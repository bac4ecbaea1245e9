"""Hostile pages: deep, wide, recursive or quadratic content of every syntax. `tests/test_hostile.py` has the largest sizes."""

from __future__ import annotations

import json
import random

from hostile.scenes import Scene, page, respond, site

HTML, XHTML, XML = "text/html", "application/xhtml+xml", "application/xml"
XHTML_ROOT = '<html xmlns="http://www.w3.org/1999/xhtml">'
RDF_ROOT = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://e.example/">'


def laughs(chance: random.Random) -> str:
    """The billion laughs, under names that the seed chooses."""
    name = chance.choice(("l", "lol", "e", "x"))
    inner = "".join(f'<!ENTITY {name}{n} "{f"&{name}{n - 1};" * 10 if n else "ha"}">' for n in range(12))
    return f"<!DOCTYPE r [{inner}<!ENTITY top '&{name}11;'>]>"


def jsonld(text: str) -> str:
    return f'<script type="application/ld+json">{text}</script>'


@page(HTML, "fetched")
def nested_elements(chance: random.Random) -> str:
    name = chance.choice(("div", "b", "span", "table", "font", "a"))
    return f"<{name} property=p typeof=t itemscope itemprop=i class=h-card>" * chance.randrange(20_000, 40_000)


@page(XML, "not-well-formed")
def nested_xml(chance: random.Random) -> str:
    depth = chance.randrange(20_000, 60_000)
    return "<a>" * depth + "</a>" * depth


@page(XHTML, "not-well-formed")
def nested_xhtml(chance: random.Random) -> str:
    depth = chance.randrange(20_000, 60_000)
    return XHTML_ROOT + "<p property='p'>" * depth + "</p>" * depth + "</html>"


@page(HTML, "fetched")
def a_million_attributes(chance: random.Random) -> str:
    start = chance.randrange(10**6)
    return "<p " + " ".join(f"a{start + number}=1" for number in range(120_000)) + ">"


@page(XML, "entity-bomb")
def entities_in_xml(chance: random.Random) -> str:
    return f"{laughs(chance)}<r>&top;</r>"


@page(XHTML, "entity-bomb")
def entities_in_xhtml(chance: random.Random) -> str:
    return f"{laughs(chance)}{XHTML_ROOT}<p property='http://p.example/'>&top;</p></html>"


@page("application/rdf+xml", "entity-bomb")
def entities_in_rdf(chance: random.Random) -> str:
    return f"{laughs(chance)}{RDF_ROOT}<e:A><e:b>&top;</e:b></e:A></rdf:RDF>"


@page("application/rss+xml", "entity-bomb")
def entities_in_a_feed(chance: random.Random) -> str:
    return f"{laughs(chance)}<rss><channel><title>&top;</title></channel></rss>"


@page("application/rdf+xml", "external-entity")
def an_entity_that_is_a_file(chance: random.Random) -> str:
    file = chance.choice(("file:///etc/passwd", "http://127.0.0.1/", "/etc/hostname"))
    return f"<!DOCTYPE r [<!ENTITY x SYSTEM '{file}'>]>{RDF_ROOT}<e:A><e:b>&x;</e:b></e:A></rdf:RDF>"


@page(HTML, "json-too-deep")
def nested_json(chance: random.Random) -> str:
    depth = chance.randrange(5000, 50_000)
    opening, closing = chance.choice((('{"a":', "}"), ("[", "]"), ('{"a":[', "]}")))
    return jsonld(f"{opening * depth}{closing * depth}")


@page("application/ld+json", "json-too-deep")
def a_nested_json_document(chance: random.Random) -> str:
    depth = chance.randrange(5000, 50_000)
    return '{"@context":"https://schema.org","@graph":' * depth + "1" + "}" * depth


@page(HTML, "fetched")
def a_giant_context(chance: random.Random) -> str:
    terms = {f"t{number}": {"@id": f"http://v.example/{chance.randrange(10**6)}"} for number in range(20_000)}
    return jsonld(json.dumps({"@context": terms, "@id": "http://x.example/", "t1": "v"}))


@page(HTML, "json-too-deep")
def contexts_in_contexts(chance: random.Random) -> str:
    inner: object = {"@vocab": "http://v.example/"}
    for number in range(chance.randrange(200, 400)):
        inner = {f"t{number}": {"@id": f"http://v.example/{number}", "@context": inner}}
    return jsonld(json.dumps({"@context": inner, "t0": {"t1": {"t2": "v"}}}))


@site
def contexts_without_end(scene: Scene) -> None:
    """Every JSON-LD context names another."""

    def lead_on(path: str) -> bytes:
        following = scene.url(f"/context/{scene.chance.randrange(10**9)}")
        body = json.dumps({"@context": [following, {"name": "http://schema.org/name"}]})
        return respond(body.encode(), "application/ld+json")

    path = scene.name_path()
    data = {"@context": scene.url("/context/0"), "@id": "#it", "name": "x"}
    scene.replies[path] = respond(jsonld(json.dumps(data)).encode())
    scene.replies["/robots.txt"] = scene.replies["/sitemap.xml"] = respond(b"", status=404)
    scene.otherwise = lead_on
    scene.expect(path, "context-unknown")
    scene.add_home(path)


@page(HTML, "too-many-quads")
def prefixes_that_multiply(chance: random.Random) -> str:
    prefix = f"http://a.example/{'x' * chance.randrange(5000, 12_000)}"
    return f'<p prefix="a: {prefix}">' + "<b property=a:b>x</b>" * 20_000


@page(HTML, "item-cycle")
def an_itemref_cycle(chance: random.Random) -> str:
    return (
        "<p itemscope itemref='a b' id=a itemprop=b></p><p itemscope itemref=a id=b itemprop=c></p>"
        * chance.randrange(200, 1000)
    )


@page(HTML, "too-many-quads")
def items_that_share(chance: random.Random) -> str:
    items = "<p itemscope itemref=x></p>" * 10_000
    return f"{items}<div id=x>{'<b itemprop=a:b>v</b>' * chance.randrange(2000, 5000)}</div>"


@page(HTML, "include-nested")
def includes_that_multiply(chance: random.Random) -> str:
    steps = "".join(
        f"<p id=i{n}><a class=include href=#i{n + 1}></a><a class=include href=#i{n + 1}></a></p>" for n in range(60)
    )
    return f"{steps}<div class=vcard><a class=include href=#i{chance.randrange(3)}></a></div>"


@page("application/rss+xml", "not-well-formed")
def a_feed_without_end(chance: random.Random) -> str:
    return f"<rss><channel>{'<item><title>x</title><link>/f</link></item>' * chance.randrange(10_000, 30_000)}"


@page("application/rss+xml", "not-well-formed")
def nested_feed_items(chance: random.Random) -> str:
    return "<rss><channel>" + "<item>" * chance.randrange(10_000, 50_000)


@page(HTML, "json-invalid")
def quotes_without_end(chance: random.Random) -> str:
    return jsonld('{"a":"' + '"b' * chance.randrange(20_000, 60_000))


@page(HTML, "json-repaired", "json-invalid")
def comments_without_end(chance: random.Random) -> str:
    return jsonld("{/*" * chance.randrange(20_000, 60_000))


@page(HTML, "fetched")
def comment_openers(chance: random.Random) -> str:
    return "<!--" * chance.randrange(50_000, 150_000)


@page(HTML, "fetched")
def half_a_tag_without_end(chance: random.Random) -> str:
    return chance.choice(("<meta name='", '<a href="', "<![CDATA[", "</", "&#", "<p title=a")) * 60_000


@page("text/turtle", "syntax-error")
def statements_that_might_be(chance: random.Random) -> str:
    return '<x:a> <b> "' + '"_:' * chance.randrange(3000, 6000)


@page("text/turtle", "fetched")
def nested_turtle(chance: random.Random) -> str:
    opening, closing = chance.choice((("(", ")"), ("[ <a:p> ", "]")))
    depth = chance.randrange(20_000, 60_000)
    return f"<a:s> <a:p> {opening * depth}1{closing * depth} ."


@page("application/n-triples", "syntax-error")
def triples_without_line_ends(chance: random.Random) -> str:
    return "<a:a> " * chance.randrange(50_000, 150_000)


@page("application/rdf+xml", "syntax-error")
def nested_rdf_xml(chance: random.Random) -> str:
    depth = chance.randrange(10_000, 30_000)
    return RDF_ROOT + "<e:A><e:b>" * depth + "</e:b></e:A>" * depth + "</rdf:RDF>"


@page(HTML, "fetched")
def texts_within_texts(chance: random.Random) -> str:
    return "<b property=http://p.example/>" * 400 + "word " * chance.randrange(20_000, 60_000)


@page(HTML, "fetched")
def a_long_base(chance: random.Random) -> str:
    return f"<base href=/{'b' * chance.randrange(10_000, 16_000)}/>" + "<a href=p rel=license>x</a>" * 3000


@page(HTML, "fetched")
def charset_names_without_end(chance: random.Random) -> str:
    return "<meta charset=../../etc/passwd>" * 200 + f"<meta charset={'x' * 50_000}><p>text</p>"


@page("text/html; charset=utf-16", "bad-bytes", "fetched")
def a_wrong_charset(chance: random.Random) -> str:
    return f"<p property=http://p.example/>é {chance.random()}"


@page(f"text/html; charset={'../' * 20}etc/passwd", "fetched")
def a_charset_that_is_a_path(chance: random.Random) -> str:
    return f"<p property=http://p.example/>é {chance.random()}"


@page(HTML, "fetched")
def nul_bytes(chance: random.Random) -> str:
    return "<p\0 property\0=http://p.example/ content=a\0b>\0" * chance.randrange(100, 1000)


@page(HTML, "json-repaired")
def lone_surrogates(chance: random.Random) -> str:
    data = r'{"@context":"http://schema.org","name":"\ud800x\udc00"}'
    return f"{jsonld(data)}<b property=http://p.example/>\ud800</b>{chance.random()}"


@page("image/svg+xml", "not-well-formed")
def svg_in_svg(chance: random.Random) -> str:
    return "<svg xmlns='http://www.w3.org/2000/svg'>" * chance.randrange(10_000, 30_000)


@page(HTML, "json-repaired")
def numbers_beyond_all_bounds(chance: random.Random) -> str:
    digits = "9" * chance.randrange(10_000, 100_000)
    return jsonld(f'{{"@context":"http://schema.org","price":[1e999,-1e999,{digits},NaN]}}')


@page(HTML, "fetched")
def bytes_of_no_charset(chance: random.Random) -> str:
    return "".join(map(chr, chance.choices(range(256), k=50_000)))


@page(HTML, "fetched")
def links_without_end(chance: random.Random) -> str:
    # Every one a path of its own that is not there.
    return "".join(f"<a href=/none/{chance.randrange(10**9)}>x</a>" for _ in range(60))
