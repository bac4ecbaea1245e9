"""Lists of sites, places and datasets: the directory, the gazetteer and the open-data portal."""

import gzip
import json
from collections.abc import Mapping
from html import escape

from rdfspider.demo.answers import (
    JSON_LD,
    RDF_XML,
    TURTLE,
    DemoAddresses,
    DemoAnswer,
    DemoSite,
    alternate,
    listing,
    redirect,
    script,
)
from rdfspider.demo.filler import describe
from rdfspider.demo.world import DATASETS, PLACES, Dataset, DemoPlace, secrets_of

SITES = {
    "shop": "Marsh & Mill, a shop",
    "museum": "Museum of Small Things",
    "university": "University of Drossen",
    "library": "Harrowmere Town Library",
    "blog": "Bad Light, a blog about books",
    "events": "What is on around Lake Amble",
    "recipes": "The Oxwhistle Cookbook",
    "data": "Places of the North as Linked Data",
    "portal": "Open Data Lake Amble",
    "town": "Harrowmere Herald, the town's newspaper",
    "old": "Harrowmere Herald, where it used to be",
}
"""Every site but this one and the museum's mirror, with its title by name."""

_PLACE_FORMS = {"text/html": "/page/{}", "text/turtle": "/data/{}.ttl", JSON_LD: "/data/{}.jsonld"}
_PLACE_PREFIXES = """@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix north: </ns#> .
"""
_PLACE_ROBOTS = "User-agent: rdfspider\nDisallow: /internal/\n\nUser-agent: *\nDisallow: /\n"
WITH_JSON = PLACES[::3]
"""The places that are also available in JSON-LD."""
(_DRAFT,) = secrets_of("data")

LINKED = DATASETS[:6]
"""The datasets that a page links to; the others are only in sitemaps."""
FORMS = (("ttl", TURTLE), ("rdf", RDF_XML), ("jsonld", JSON_LD))
"""The formats of the datasets' metadata, used in turn."""
_DCAT = "http://www.w3.org/ns/dcat#"
_TERMS = "http://purl.org/dc/terms/"


def make_directory(at: DemoAddresses) -> DemoSite:
    """www: a list of all sites in JSON-LD, where the crawl starts."""
    site = DemoSite("Sites around Lake Amble")
    parts = [{"@type": "WebSite", "@id": at.url(name), "name": title} for name, title in SITES.items()]
    links = listing((at.url(name), title) for name, title in SITES.items())
    site.add("/", "All sites", links, head=script({"@type": "CollectionPage", "@id": "/", "hasPart": parts}))
    return site


def make_gazetteer(at: DemoAddresses) -> DemoSite:
    """data: places as Linked Data. IRIs redirect (303) to data or a page by content negotiation; JSON-LD has its own context."""
    site = DemoSite("Places of the North", _PLACE_ROBOTS)
    menu = [(f"/id/{place.key}", place.name) for place in PLACES]
    menu += [("/ns", "Vocabulary"), ("/dump.nt", "All of it"), (_DRAFT.path, "Drafts")]
    site.add("/", "Welcome", listing(menu))
    for place in PLACES:
        data = f"/data/{place.key}"
        head = alternate(f"{data}.ttl", "text/turtle")
        if place in WITH_JSON:
            head += alternate(f"{data}.jsonld", JSON_LD)
            site.add_data(f"{data}.jsonld", _write_place_json(place), JSON_LD)
        site.add(f"/page/{place.key}", place.name, _write_place(place), head=head)
        site.add_data(f"{data}.ttl", _write_place_turtle(at, place), TURTLE)
    site.add_data("/ns", _write_vocabulary(), TURTLE)
    site.add_data("/ns/context.jsonld", json.dumps({"@context": _make_context(at)}), JSON_LD)
    names = "".join(f'<{at.place(place)}> <{at.url("data", "/ns#label")}> "{place.name}"@en .\n' for place in PLACES)
    site.add_data("/dump.nt", names, "application/n-triples")
    site.add_data(_DRAFT.path, f'@prefix north: </ns#> .\n<#it> north:label "{_DRAFT.name}" .\n', TURTLE)
    site.find_page = lambda path, query, headers: _find_place(path, headers)
    return site


def _find_place(path: str, headers: Mapping[str, str]) -> DemoAnswer | None:
    """The IRI of a place is not a document, so it redirects (303) to the preferred representation."""
    key = path.removeprefix("/id/")
    place = next((place for place in PLACES if place.key == key), None)
    if key == path or place is None:
        return None
    forms = [form for form in _PLACE_FORMS if form != JSON_LD or place in WITH_JSON]
    wanted = choose_form(headers.get("accept", ""), forms)
    return redirect(_PLACE_FORMS[wanted].format(key), 303, (("Vary", "Accept"),))


def choose_form(accept: str, forms: list[str]) -> str:
    """The representation that an Accept header prefers; the first of equals, or if the header is empty."""
    weights = {}
    for part in accept.split(","):
        form, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((value[2:] for value in parameters if value.startswith("q=")), "1")
        weights[form.lower()] = float(weight) if weight.replace(".", "", 1).isdigit() else 0.0
    return max(forms, key=lambda form: weights.get(form, weights.get("*/*", 0.0)))


def _write_place(place: DemoPlace) -> str:
    return f"""<article vocab="/ns#" prefix="geo: http://www.w3.org/2003/01/geo/wgs84_pos#" resource="/id/{place.key}"
 typeof="{place.kind.title()}"><h1 property="rdfs:label">{escape(place.name)}</h1>
<p>At <span property="geo:lat">{place.latitude}</span>, <span property="geo:long">{place.longitude}</span>.</p>
<p property="rdfs:comment">{describe(place.name)}</p></article>"""


def _write_place_turtle(at: DemoAddresses, place: DemoPlace) -> str:
    same = f"  owl:sameAs <{at.url('events', f'/venues/{place.key}#it')}> ;\n" if place.kind == "building" else ""
    people = f"  north:population {place.population} ;\n" if place.population else ""
    return f"""{_PLACE_PREFIXES}</id/{place.key}> a north:{place.kind.title()} ;
  rdfs:label "{place.name}"@en ;
  geo:lat {place.latitude} ; geo:long {place.longitude} ;
{people}{same}  rdfs:isDefinedBy </data/{place.key}.ttl> .
"""


def _write_place_json(place: DemoPlace) -> str:
    data = {
        "id": f"/id/{place.key}",
        "type": place.kind.title(),
        "label": place.name,
        "gazetteer": f"NORTH-{place.key}",
    }
    return json.dumps({"@context": "/ns/context.jsonld", **data}, ensure_ascii=False)


def _make_context(at: DemoAddresses) -> dict[str, str]:
    own = {name: at.url("data", f"/ns#{name}") for name in ("gazetteer", "label")}
    return {"@vocab": at.url("data", "/ns#"), "id": "@id", "type": "@type", **own}


def _write_vocabulary() -> str:
    kinds = sorted({place.kind.title() for place in PLACES})
    classes = "".join(
        f'north:{kind} a rdfs:Class ; rdfs:subClassOf north:Place ; rdfs:label "{kind}" .\n' for kind in kinds
    )
    return f'{_PLACE_PREFIXES}</ns#Place> a rdfs:Class ; rdfs:label "Place" .\n{classes}'


def make_portal(at: DemoAddresses) -> DemoSite:
    """portal: datasets as pages, and in DCAT as Turtle, RDF/XML or JSON-LD. Most are only listed in sitemaps."""
    site = DemoSite(
        "Open Data Lake Amble", f"User-agent: *\nDisallow:\n\nSitemap: {at.url('portal', '/sitemap-index.xml')}\n"
    )
    menu = [(f"/dataset/{dataset.key}", dataset.title) for dataset in LINKED] + [("/catalog.ttl", "Catalogue")]
    site.add("/", "Welcome", listing(menu))
    for number, dataset in enumerate(DATASETS):
        path = f"/dataset/{dataset.key}"
        ending, media_type = FORMS[number % len(FORMS)]
        data = {"@type": "Dataset", "@id": f"{path}#it", "name": dataset.title, "keywords": dataset.theme}
        about = {"spatialCoverage": {"@type": "Place", "@id": at.place(dataset.place), "name": dataset.place.name}}
        content = f"<h1>{escape(dataset.title)}</h1><p>{describe(dataset.title)}</p>"
        site.add(path, dataset.title, content, head=script({**data, **about}))
        site.add_data(f"{path}.{ending}", _write_metadata(at, dataset, ending), media_type)
    entries = " ,\n  ".join(f"</dataset/{dataset.key}#it>" for dataset in DATASETS)
    catalog = f'<#catalog> a dcat:Catalog ;\n  dcterms:title "Open Data Lake Amble" ;\n  dcat:dataset {entries} .\n'
    site.add_data("/catalog.ttl", f"@prefix dcat: <{_DCAT}> .\n@prefix dcterms: <{_TERMS}> .\n{catalog}", TURTLE)
    _add_sitemaps(site, at)
    return site


def identify(dataset: Dataset) -> str:
    """A statement about a dataset that only its metadata contains."""
    return f"amble:{dataset.theme}:{dataset.key}"


def _write_metadata(at: DemoAddresses, dataset: Dataset, ending: str) -> str:
    page = f"/dataset/{dataset.key}"
    match ending:
        case "ttl":
            return f"""@prefix dcat: <{_DCAT}> .
@prefix dcterms: <{_TERMS}> .
<{page}#it> a dcat:Dataset ; dcterms:title "{dataset.title}"@en ; dcterms:identifier "{identify(dataset)}" ;
  dcterms:spatial <{at.place(dataset.place)}> ; dcat:landingPage <{page}> ;
  dcat:distribution [ a dcat:Distribution ; dcat:downloadURL </download/{dataset.key}.csv> ] .
"""
        case "rdf":
            return f"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcat="{_DCAT}"
  xmlns:dcterms="{_TERMS}">
  <dcat:Dataset rdf:about="{page}#it"><dcterms:title xml:lang="en">{escape(dataset.title)}</dcterms:title>
    <dcterms:identifier>{identify(dataset)}</dcterms:identifier><dcterms:spatial rdf:resource="{at.place(dataset.place)}"/>
    <dcat:landingPage rdf:resource="{page}"/></dcat:Dataset>
</rdf:RDF>
"""
        case _:
            context = {
                "dcat": _DCAT,
                "dcterms": _TERMS,
                "dcterms:spatial": {"@type": "@id"},
                "dcat:landingPage": {"@type": "@id"},
            }
            facts = {"dcterms:title": dataset.title, "dcterms:identifier": identify(dataset)}
            links = {"dcterms:spatial": at.place(dataset.place), "dcat:landingPage": page}
            return json.dumps({"@context": context, "@id": f"{page}#it", "@type": "dcat:Dataset", **facts, **links})


def _add_sitemaps(site: DemoSite, at: DemoAddresses) -> None:
    """A sitemap index of two: the pages, compressed, and the metadata, as plain text."""
    names = ("/sitemap-pages.xml.gz", "/sitemap-metadata.txt")
    parts = "".join(f"<sitemap><loc>{at.url('portal', name)}</loc></sitemap>" for name in names)
    namespace = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
    site.add_data("/sitemap-index.xml", f"<sitemapindex {namespace}>{parts}</sitemapindex>", "application/xml")
    pages = "".join(
        f"<url><loc>{at.url('portal', f'/dataset/{dataset.key}')}</loc><lastmod>2026-02-{1 + number % 28:02}</lastmod>"
        f"<priority>0.{9 - number % 5}</priority></url>\n"
        for number, dataset in enumerate(DATASETS)
    )
    packed = gzip.compress(f"<urlset {namespace}>\n{pages}</urlset>\n".encode(), mtime=0)
    site.pages[names[0]] = DemoAnswer(packed, "application/gzip")
    lines = (
        at.url("portal", f"/dataset/{dataset.key}.{FORMS[number % len(FORMS)][0]}")
        for number, dataset in enumerate(DATASETS)
    )
    site.add_data(names[1], "".join(f"{line}\n" for line in lines), "text/plain; charset=utf-8")
