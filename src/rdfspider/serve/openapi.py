"""The table of pages in, its description in OpenAPI out; what JSON holds is described where it is one of our records."""

from collections.abc import Iterable
from typing import Any

import msgspec

from rdfspider import __version__
from rdfspider.serve.negotiation import MEDIA_TYPES
from rdfspider.serve.views import Page


def describe_api(pages: Iterable[Page]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    pages = list(pages)
    records = list(dict.fromkeys(page.answer for page in pages if page.answer))
    references, schemas = msgspec.json.schema_components(records, ref_template="#/components/schemas/{name}")
    for schema in schemas.values():
        # What tells messages apart between processes is left out of answers.
        if "enum" in schema.get("properties", {}).get("type", {}):
            del schema["properties"]["type"]
            schema["required"].remove("type")
    known = dict(zip(records, references, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for page in pages:
        schema = known[page.answer] if page.answer else {}
        paths.setdefault(page.path, {})[page.method.lower()] = _describe_page(page, schema)
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


_MISTAKE = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string", "description": "What is wrong, in a sentence."}},
}


def _describe_page(page: Page, schema: dict[str, Any]) -> dict[str, Any]:
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


def _describe_schema(kind: str, is_repeated: bool) -> dict[str, Any]:
    return {"type": "array", "items": {"type": kind}} if is_repeated else {"type": kind}
