"""portal: datasets as pages, and in DCAT as Turtle, RDF/XML or JSON-LD. Most are only listed in sitemaps."""

import gzip
import json
from html import escape

from rdfspider.demo.answers import JSON_LD, RDF_XML, TURTLE, DemoAddresses, DemoAnswer, DemoSite, listing, script
from rdfspider.demo.filler import describe
from rdfspider.demo.world import DATASETS, Dataset

LINKED = DATASETS[:6]
"""The datasets that a page links to; the others are only in sitemaps."""
FORMS = (("ttl", TURTLE), ("rdf", RDF_XML), ("jsonld", JSON_LD))
"""The formats of the datasets' metadata, used in turn."""
_DCAT = "http://www.w3.org/ns/dcat#"
_TERMS = "http://purl.org/dc/terms/"


def make_site(at: DemoAddresses) -> DemoSite:
    """The portal."""
    site = DemoSite(
        "Open Data Lake Amble", f"User-agent: *\nDisallow:\n\nSitemap: {at.url('portal', '/sitemap-index.xml')}\n"
    )
    ways = [(f"/dataset/{dataset.key}", dataset.title) for dataset in LINKED] + [("/catalog.ttl", "Catalogue")]
    site.add("/", "Welcome", listing(ways))
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
