"""The table of pages enters, their OpenAPI description leaves; JSON schemas come from the records of the answers."""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from rdfspider import __version__
from rdfspider.results import LedgerTotals, NameCount
from rdfspider.serve.negotiation import DESCRIPTIONS, MEDIA_TYPES, RESULTS, TRIPLES
from rdfspider.serve.replies import SitePage

_MISTAKE = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "What is wrong, in a sentence."}},
}


def describe_api(pages: Iterable[SitePage]) -> dict[str, Any]:
    """Describe the pages as OpenAPI 3.1."""
    pages = list(pages)
    records = list(dict.fromkeys(record for page in pages for record in _list_records(page)))
    references, schemas = msgspec.json.schema_components(records, ref_template="#/components/schemas/{name}")
    for schema in schemas.values():
        # The type tags of messages between processes are not part of answers.
        if "enum" in schema.get("properties", {}).get("type", {}):
            del schema["properties"]["type"]
            schema["required"].remove("type")
    for record in (NameCount, LedgerTotals):
        # Records with the same name are listed by their qualified names.
        for name in (record.__name__, f"{record.__module__}.{record.__name__}"):
            if "prefixItems" in schemas.get(name, {}):
                schemas[name] = _name_items(schemas[name], record._fields)
    known = dict(zip(records, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for page in pages:
        choices = [known[record] for record in _list_records(page)]
        schema = choices[0] if len(choices) == 1 else {"anyOf": choices} if choices else {}
        paths.setdefault(page.path, {})[page.method.lower()] = _describe_page(page, schema)
    for path, methods in _describe_routes().items():
        for method, described in methods.items():
            # The editor page and the endpoint share a path, so the answers of both are listed.
            shared = paths.setdefault(path, {}).setdefault(method, described)
            shared["responses"]["200"]["content"] |= described["responses"]["200"]["content"]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rdfspider",
            "version": __version__,
            "description": "What a crawl has found. Formats are chosen by Accept, or by a suffix of the path: /search.json.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas | {"Mistake": _MISTAKE},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _list_records(page: SitePage) -> tuple[type, ...]:
    return page.answer if isinstance(page.answer, tuple) else (page.answer,)


def _name_items(schema: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """A named tuple becomes an object in answers, although msgspec by itself describes it as an array."""
    items = dict(zip(names, schema["prefixItems"], strict=True))
    kept = {name: schema[name] for name in ("title", "description")}
    return {**kept, "type": "object", "properties": items, "required": list(names)}


def _describe_page(page: SitePage, schema: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {
        MEDIA_TYPES[name].partition(";")[0]: {"schema": schema if name == "json" else {}} for name in page.formats
    }
    described: dict[str, Any] = {
        "summary": page.about,
        "responses": {
            "200": {"description": page.about, "content": content},
            "default": {
                "description": "What is wrong.",
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Mistake"}}},
            },
        },
    }
    if page.method == "GET":
        described["parameters"] = [
            {
                "name": one.name,
                "in": "query",
                "description": one.about,
                "required": one.is_required,
                "schema": _describe_schema(one.kind, one.is_repeated),
            }
            for one in page.parameters
        ]
    else:
        fields = {
            one.name: {"description": one.about, **_describe_schema(one.kind, one.is_repeated)}
            for one in page.parameters
        }
        described["requestBody"] = {
            "content": {"application/x-www-form-urlencoded": {"schema": {"type": "object", "properties": fields}}}
        }
    if page.needs_token:
        described["security"] = [{"token": []}]
    return described


def _describe_routes() -> dict[str, dict[str, dict[str, Any]]]:
    """Endpoints that are not pages, by path and method."""
    query = {"type": "string", "description": "A query, of SPARQL 1.1."}
    graphs = {
        name: {"type": "array", "items": {"type": "string"}, "description": "A graph of the query's dataset."}
        for name in ("default-graph-uri", "named-graph-uri")
    }
    form_name = {"type": "string", "description": "In place of Accept: json, xml, csv, …"}
    properties = {"query": query, **graphs, "format": form_name}
    form = {"type": "object", "required": ["query"], "properties": properties}
    answers = (*RESULTS, *TRIPLES)
    ask = _describe_route("The answer to a query, by the SPARQL 1.1 Protocol.", answers)
    ask["requestBody"] = {
        "required": True,
        "content": {
            "application/x-www-form-urlencoded": {"schema": form},
            "application/sparql-query": {"schema": query},
        },
    }
    news = _describe_route(
        "What changes on the monitor, as server-sent events: HTML by the ids of its parts, in JSON.",
        ("text/event-stream",),
    )
    news["parameters"] = [
        {"name": "span", "in": "query", "description": "How far back charts reach.", "schema": {"type": "string"}}
    ]
    metrics = _describe_route("How the crawl goes, in Prometheus's text format 0.0.4.", ("text/plain",))
    return {
        "/sparql": {"get": _describe_route("The answer to a query, by the SPARQL 1.1 Protocol.", answers), "post": ask},
        "/.well-known/void": {"get": _describe_route("A description of the data, in VoID.", tuple(DESCRIPTIONS))},
        "/monitor/events": {"get": news},
        "/metrics": {"get": metrics},
    }


def _describe_route(about: str, media_types: Iterable[str]) -> dict[str, Any]:
    content: dict[str, Any] = {name: {"schema": {}} for name in media_types}
    return {
        "summary": about,
        "responses": {"200": {"description": about, "content": content}, "default": {"description": "What is wrong."}},
    }


def _describe_schema(kind: str, is_repeated: bool) -> dict[str, Any]:
    return {"type": "array", "items": {"type": kind}} if is_repeated else {"type": kind}
