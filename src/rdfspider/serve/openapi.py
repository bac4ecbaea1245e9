"""The table of pages in, its description in OpenAPI out."""

from collections.abc import Iterable
from typing import Any

from rdfspider import __version__
from rdfspider.serve.negotiation import MEDIA_TYPES
from rdfspider.serve.views import Page


def describe_api(pages: Iterable[Page]) -> dict[str, Any]:
    """OpenAPI 3.1."""
    paths: dict[str, dict[str, Any]] = {}
    for page in pages:
        paths.setdefault(page.path, {})[page.method.lower()] = _describe_page(page)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "rdfspider",
            "version": __version__,
            "description": "What a crawl has found. Formats are chosen by Accept, or by a suffix of the path: /search.json.",
        },
        "paths": paths,
        "components": {"securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
    }


def _describe_page(page: Page) -> dict[str, Any]:
    content: dict[str, Any] = {MEDIA_TYPES[name].partition(";")[0]: {"schema": {}} for name in page.formats}
    described: dict[str, Any] = {
        "summary": page.about,
        "responses": {
            "200": {"description": page.about, "content": content},
            "default": {"description": "What is wrong."},
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
