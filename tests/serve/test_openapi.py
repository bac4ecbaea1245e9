"""OpenAPI describes what programs get: every answer of a real crawl's site is as it says."""

from collections.abc import Iterator
from typing import Any

import pytest

from rdfspider import Crawl
from rdfspider.serve.app import PAGES
from serving import Serving, serve
from web.crawls import crawl
from web.server import Answer, Web
from web.sites import Site, make_page

HOME, TEA, CUP = "http://shop.test/", "http://shop.test/tea", "http://shop.test/cup"
SCHEMA = "http://schema.org/"
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}
ASKS: dict[tuple[str, str], list[dict[str, str]]] = {
    ("GET", "/"): [{}],
    ("GET", "/search"): [{"q": "tea"}, {"kind": "page"}, {"q": "xyzzyq"}],
    ("GET", "/suggest"): [{"q": "te"}, {}],
    ("GET", "/entity"): [{"iri": f"{TEA}#it"}, {"iri": TEA}, {"iri": f"{TEA}#it", "says": f"{SCHEMA}name"}],
    ("GET", "/page"): [{"url": TEA}, {"url": "http://shop.test/private/x"}, {"url": "http://never.test/"}],
    ("GET", "/copy"): [{"url": TEA}],
    ("POST", "/inspect"): [
        {"html": "<div itemscope itemref=nowhere itemtype=https://schema.org/Brand><a href=/>x</a>"}
    ],
    ("POST", "/inspect/url"): [{"url": "http://shop.test/moved"}],
    ("GET", "/complete"): [{"q": "Prod"}, {"kind": "property", "q": "name"}],
    ("GET", "/monitor"): [{}],
    ("GET", "/classes"): [{}, {"q": "Product"}],
    ("GET", "/properties"): [{}],
    ("GET", "/ontologies"): [{}],
    ("GET", "/sites"): [{}],
    ("GET", "/class"): [{"iri": f"{SCHEMA}Product"}],
    ("GET", "/property"): [{"iri": f"{SCHEMA}name"}],
    ("GET", "/ontology"): [{"iri": SCHEMA}],
    ("GET", "/site"): [{"name": "shop.test"}],
    ("GET", "/quality"): [{"site": "shop.test"}],
    ("GET", "/links"): [{}, {"from": HOME, "to": CUP}],
    # These need a crawl that runs, and answer as the others do.
    ("POST", "/control/pause"): [],
    ("POST", "/control/resume"): [],
    ("POST", "/control/stop"): [],
    ("POST", "/control/seeds"): [{"seeds": "http://shop.test/more"}],
    ("POST", "/control/add-filter"): [{"kind": "exclude", "pattern": "/never/"}],
    ("POST", "/control/remove-filter"): [{"kind": "exclude", "pattern": "/never/"}],
}
"""What is asked of each page that answers in JSON."""


def make_web() -> Site:
    site = Site()
    site.add(HOME, make_page(HOME, ["/tea", "/cup", "/moved", "/private/x"]))
    for url, name in ((TEA, "Green tea"), (CUP, "Tea for one")):
        data = f"""<script type="application/ld+json">[
            {{"@context": "https://schema.org", "@id": "{TEA}#it", "@type": "Product", "name": "{name}",
              "offers": {{"@type": "Offer", "price": 4.5}}, "sameAs": "http://else.test/tea"}},
            {{"@context": "https://schema.org", "@id": "{url}#maker", "@type": "Person", "makesOffer": {{"@id": "{TEA}#it"}}}}
            ]</script>"""
        page = make_page(
            url, ["/"], head=data + '<div itemscope itemref="nowhere" itemtype="https://schema.org/Brand"></div>'
        )
        site.add(url, page)
    site.add("http://shop.test/moved", Answer(301, headers={"Location": "/tea"}))
    site.robots["shop.test"] = Answer(body=b"User-agent: *\nDisallow: /private/\n", content_type="text/plain")
    return site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("openapi") / "c"
    with Web(make_web()) as web:
        settings = {"frontier_delay_s": 0, "index_enabled": "true", "crawl_shards": 1}
        crawl(folder, HOME, *web.resolve({"*.test": "127.0.0.1"}), **settings)
        with serve(Crawl.open(folder)) as serving:
            yield serving


@pytest.fixture(scope="module")
def document(site: Serving) -> Any:
    return site.get("/openapi.json").json


def find_references(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from find_references(value)
    elif isinstance(node, list):
        for value in node:
            yield from find_references(value)


def resolve(document: Any, reference: str) -> Any:
    assert reference.startswith("#/")
    for part in reference[2:].split("/"):
        document = document[part]
    return document


def find_mistakes(document: Any, schema: Any, value: Any, at: str = "") -> Iterator[str]:
    """Where a value is not as its schema says, or has what the schema does not know."""
    if "$ref" in schema:
        yield from find_mistakes(document, resolve(document, schema["$ref"]), value, at)
    elif "anyOf" in schema:
        found = [list(find_mistakes(document, choice, value, at)) for choice in schema["anyOf"]]
        yield from min(found, key=len)
    elif "enum" in schema:
        if value not in schema["enum"]:
            yield f"{at} is {value!r}, and none of {schema['enum']}"
    elif schema["type"] in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int if schema["type"] == "integer" else (int, float)):
            yield f"{at} is {value!r}, and no {schema['type']}"
    elif not isinstance(value, TYPES[schema["type"]]):
        yield f"{at} is {value!r}, and no {schema['type']}"
    elif schema["type"] == "object":
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        yield from (f"{at} has no {name}" for name in schema.get("required", ()) if name not in value)
        for name, each in value.items():
            if name in known or others:
                yield from find_mistakes(document, known.get(name, others), each, f"{at}.{name}")
            else:
                yield f"{at} has a {name}"
    elif schema["type"] == "array":
        each = schema.get("prefixItems") or [schema["items"]] * len(value)
        if len(each) != len(value):
            yield f"{at} has {len(value)} items, and not {len(each)}"
        for number, (one, item) in enumerate(zip(each, value, strict=False)):
            yield from find_mistakes(document, one, item, f"{at}[{number}]")


def test_every_reference_leads_somewhere(document: Any) -> None:
    references = set(find_references(document))
    assert references
    assert all(resolve(document, reference) for reference in references)


def test_every_answer_in_json_is_as_it_is_described(site: Serving, document: Any) -> None:
    pages = {(page.method, page.path): page for page in PAGES if "json" in page.formats}
    assert set(ASKS) == set(pages)
    for (method, path), asks in ASKS.items():
        content = document["paths"][path][method.lower()]["responses"]["200"]["content"]["application/json"]
        assert content["schema"], f"{method} {path} is not described"
        for parameters in asks:
            address = f"{'/home' if path == '/' else path}.json"
            if method == "GET":
                reply = site.get(address, **parameters)
            else:
                reply = site.post(address, trusted=pages[method, path].needs_token, **parameters)
            assert reply.status == 200, (method, path, parameters, reply.text)
            mistakes = list(find_mistakes(document, content["schema"], reply.json))
            assert mistakes == [], (method, path, parameters)


def test_what_is_no_answer_is_not_taken_for_one(document: Any) -> None:
    """The check itself."""
    schema = {"$ref": "#/components/schemas/NameCount"}
    good = {"name": "x", "uses": 1, "pages": 1, "sites": 1}
    assert list(find_mistakes(document, schema, good)) == []
    for bad in ({**good, "more": 1}, {**good, "uses": "1"}, {"name": "x"}, list(good.values())):
        assert list(find_mistakes(document, schema, bad))


def test_the_parameters_of_the_endpoint_are_known(document: Any) -> None:
    names = {one["name"] for one in document["paths"]["/sparql"]["get"]["parameters"]}
    assert names == {"query", "default-graph-uri", "named-graph-uri", "format"}
    form = document["paths"]["/sparql"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]
    assert set(form["schema"]["properties"]) == names


def test_what_is_no_page_is_known(document: Any) -> None:
    paths = document["paths"]
    bodies = paths["/sparql"]["post"]["requestBody"]["content"]
    assert set(bodies) == {"application/x-www-form-urlencoded", "application/sparql-query"}
    answers = paths["/sparql"]["get"]["responses"]["200"]["content"]
    assert {"text/html", "application/sparql-results+json", "text/turtle"} <= set(answers)
    for path, media_type in (
        ("/metrics", "text/plain"),
        ("/monitor/events", "text/event-stream"),
        ("/.well-known/void", "text/turtle"),
    ):
        assert media_type in paths[path]["get"]["responses"]["200"]["content"]


def test_what_takes_the_token_says_so(document: Any) -> None:
    paths = document["paths"]
    control = {path for path in paths if path.startswith("/control/")}
    assert len(control) == 6
    assert all(paths[path]["post"]["security"] == [{"token": []}] for path in control)
    assert {"kind", "pattern"} <= set(
        paths["/control/add-filter"]["post"]["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"][
            "properties"
        ]
    )
