"""data: places as Linked Data. An IRI redirects (303) to data or a page by content negotiation; JSON-LD has its own context."""

import json
from collections.abc import Mapping
from html import escape

from rdfspider.demo.answers import JSON_LD, TURTLE, DemoAddresses, DemoAnswer, DemoSite, alternate, listing, redirect
from rdfspider.demo.filler import describe
from rdfspider.demo.world import PLACES, DemoPlace, secrets_of

_FORMS = {"text/html": "/page/{}", "text/turtle": "/data/{}.ttl", JSON_LD: "/data/{}.jsonld"}
_PREFIXES = """@prefix geo: <http://www.w3.org/2003/01/geo/wgs84_pos#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix north: </ns#> .
"""
_ROBOTS = "User-agent: rdfspider\nDisallow: /internal/\n\nUser-agent: *\nDisallow: /\n"
WITH_JSON = PLACES[::3]
"""The places that are also available in JSON-LD."""
(_DRAFT,) = secrets_of("data")


def make_site(at: DemoAddresses) -> DemoSite:
    """The places."""
    site = DemoSite("Places of the North", _ROBOTS)
    ways = [(f"/id/{place.key}", place.name) for place in PLACES]
    ways += [("/ns", "Vocabulary"), ("/dump.nt", "All of it"), (_DRAFT.path, "Drafts")]
    site.add("/", "Welcome", listing(ways))
    for place in PLACES:
        data = f"/data/{place.key}"
        head = alternate(f"{data}.ttl", "text/turtle")
        if place in WITH_JSON:
            head += alternate(f"{data}.jsonld", JSON_LD)
            site.add_data(f"{data}.jsonld", _write_json(place), JSON_LD)
        site.add(f"/page/{place.key}", place.name, _write_page(place), head=head)
        site.add_data(f"{data}.ttl", _write_turtle(at, place), TURTLE)
    site.add_data("/ns", _write_vocabulary(), TURTLE)
    site.add_data("/ns/context.jsonld", json.dumps({"@context": _make_context(at)}), JSON_LD)
    names = "".join(f'<{at.place(place)}> <{at.url("data", "/ns#label")}> "{place.name}"@en .\n' for place in PLACES)
    site.add_data("/dump.nt", names, "application/n-triples")
    site.add_data(_DRAFT.path, f'@prefix north: </ns#> .\n<#it> north:label "{_DRAFT.name}" .\n', TURTLE)
    site.find_page = lambda path, query, headers: _find_name(path, headers)
    return site


def _find_name(path: str, headers: Mapping[str, str]) -> DemoAnswer | None:
    """The IRI of a place is not a document, so it redirects (303) to the preferred representation."""
    key = path.removeprefix("/id/")
    place = next((place for place in PLACES if place.key == key), None)
    if key == path or place is None:
        return None
    forms = [form for form in _FORMS if form != JSON_LD or place in WITH_JSON]
    wanted = choose_form(headers.get("accept", ""), forms)
    return redirect(_FORMS[wanted].format(key), 303, (("Vary", "Accept"),))


def choose_form(accept: str, forms: list[str]) -> str:
    """The representation that an Accept header prefers; the first of equals, or if the header is empty."""
    weights = {}
    for part in accept.split(","):
        form, *parameters = (piece.strip() for piece in part.split(";"))
        weight = next((value[2:] for value in parameters if value.startswith("q=")), "1")
        weights[form.lower()] = float(weight) if weight.replace(".", "", 1).isdigit() else 0.0
    return max(forms, key=lambda form: weights.get(form, weights.get("*/*", 0.0)))


def _write_page(place: DemoPlace) -> str:
    return f"""<article vocab="/ns#" prefix="geo: http://www.w3.org/2003/01/geo/wgs84_pos#" resource="/id/{place.key}"
 typeof="{place.kind.title()}"><h1 property="rdfs:label">{escape(place.name)}</h1>
<p>At <span property="geo:lat">{place.latitude}</span>, <span property="geo:long">{place.longitude}</span>.</p>
<p property="rdfs:comment">{describe(place.name)}</p></article>"""


def _write_turtle(at: DemoAddresses, place: DemoPlace) -> str:
    same = f"  owl:sameAs <{at.url('events', f'/venues/{place.key}#it')}> ;\n" if place.kind == "building" else ""
    people = f"  north:population {place.population} ;\n" if place.population else ""
    return f"""{_PREFIXES}</id/{place.key}> a north:{place.kind.title()} ;
  rdfs:label "{place.name}"@en ;
  geo:lat {place.latitude} ; geo:long {place.longitude} ;
{people}{same}  rdfs:isDefinedBy </data/{place.key}.ttl> .
"""


def _write_json(place: DemoPlace) -> str:
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
    return f'{_PREFIXES}</ns#Place> a rdfs:Class ; rdfs:label "Place" .\n{classes}'
