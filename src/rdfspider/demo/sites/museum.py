"""museum: objects, makers and rooms in RDFa with several vocabularies. A mirror serves a copy under another name."""

from html import escape

from rdfspider.demo.answers import DemoAddresses, DemoSite, link, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import EXHIBITS, MAKERS, Exhibit, Person, make_key, secrets_of

_PREFIXES = (
    'prefix="crm: http://www.cidoc-crm.org/cidoc-crm/ dcterms: http://purl.org/dc/terms/ foaf: http://xmlns.com/foaf/0.1/ '
    'owl: http://www.w3.org/2002/07/owl#" vocab="https://schema.org/"'
)
(_MASK,) = secrets_of("museum")


def make_site(at: DemoAddresses) -> DemoSite:
    """The museum, which has no robots.txt. Its URLs are relative, so that its mirror is identical to the byte."""
    site = DemoSite("Museum of Small Things")
    rooms = list(dict.fromkeys(exhibit.room for exhibit in EXHIBITS))
    ways = [(f"/rooms/{make_key(room)}", room) for room in rooms] + [(_MASK.path, "From the depot")]
    about = '<p typeof="Museum" resource="/#museum"><b property="name">Museum of Small Things</b></p>'
    site.add("/", "Welcome", f"<div {_PREFIXES}>{about}</div>{listing(ways)}")
    for room in rooms:
        own = [exhibit for exhibit in EXHIBITS if exhibit.room == room]
        links = listing((f"/objects/{exhibit.key}", exhibit.name) for exhibit in own)
        site.add(f"/rooms/{make_key(room)}", room, f"<h1>{room}</h1><p>{describe(room, 'museum')}</p>{links}")
    for exhibit in EXHIBITS:
        site.add(f"/objects/{exhibit.key}", exhibit.name, _write_exhibit(at, exhibit))
    for maker in MAKERS:
        site.add(f"/makers/{maker.key}", maker.name, _write_maker(at, maker))
    mask = f'<p vocab="https://schema.org/" typeof="VisualArtwork"><b property="name">{_MASK.name}</b></p>'
    site.add(_MASK.path, _MASK.name, mask, head='<meta name="robots" content="noindex">')
    return site


def _write_exhibit(at: DemoAddresses, exhibit: Exhibit) -> str:
    return f"""<article {_PREFIXES} typeof="VisualArtwork crm:E22_Human-Made_Object" resource="/objects/{exhibit.key}#it">
<h1 property="name dcterms:title">{escape(exhibit.name)}</h1>
<p property="description">{describe(exhibit.name)}</p>
<p>Made <span property="dcterms:created">{exhibit.year}</span> by
<a property="creator" typeof="Person" href="/makers/{exhibit.maker.key}"><span property="name">{exhibit.maker.name}</span></a>,
found in <a property="locationCreated" typeof="Place" href="{at.place(exhibit.origin)}"><span
 property="name">{escape(exhibit.origin.name)}</span></a>.</p>
<p property="isPartOf" resource="/#museum">On show in {exhibit.room}.</p></article>"""


def _write_maker(at: DemoAddresses, maker: Person) -> str:
    return f"""<article {_PREFIXES} typeof="foaf:Person" resource="/makers/{maker.key}">
<h1 property="foaf:name">{maker.name}</h1> <p>Born <span property="birthDate">{maker.born}</span> in
<a property="foaf:based_near" href="{at.place(maker.home)}">{escape(maker.home.name)}</a>.</p>
<p property="dcterms:description">{describe(maker.name, "museum")}</p></article>
<p>{link(at.url("mirror"), "A friend keeps a copy of this museum.")}</p>"""
