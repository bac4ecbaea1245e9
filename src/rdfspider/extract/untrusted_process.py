"""The process in which stylesheets and the user's Python functions run, because a process can be killed.

`extract/untrusted.py` starts it, and asks it for one job after the other. It imports next to nothing of rdfspider, so that it
starts soon; and lxml only where it is needed, because the parent imports this module too, for the form of the messages.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import struct
import sys
from functools import lru_cache
from typing import Any

from rdfspider.processes.confinement import limit_resources
from rdfspider.processes.framing import READY, ParentPipe

Header = dict[str, Any]
"""What a message says of itself. A job's `kind` is stylesheet or function; an answer's `code` is empty on success."""

_LENGTH = struct.Struct(">I")
_XSL = "{http://www.w3.org/1999/XSL/Transform}"
_MEMORY_ADDRESS = re.compile(r"string://\S*\d+\S*")
_XML_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")

# What libxslt allows by itself, said here so that it stays: deeper recursion would need more than the usual stack.
_MAX_TEMPLATE_DEPTH = 3000


def pack_message(header: Header, *parts: bytes) -> bytes:
    """A message: the length of its header, the header in JSON, and parts of bytes."""
    head = json.dumps({**header, "parts": [len(part) for part in parts]}).encode()
    return b"".join((_LENGTH.pack(len(head)), head, *parts))


def unpack_message(message: bytes) -> tuple[Header, list[bytes]]:
    """The header and the parts of a message; ValueError where it is none."""
    try:
        (head_bytes,) = _LENGTH.unpack_from(message)
        position = _LENGTH.size + head_bytes
        header: Header = json.loads(message[_LENGTH.size : position])
        parts = []
        for length in header.pop("parts"):
            parts.append(message[position : position + length])
            position += length
    except (struct.error, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"not a message: {error}") from error
    return header, parts


def main() -> None:
    """Answer jobs until the parent hangs up."""
    _etree()  # now, so that the first job's time is its own
    pipe = ParentPipe()
    pipe.send(READY)
    while (message := pipe.receive()) is not None:
        pipe.send(_answer(*unpack_message(message)))


def _answer(job: Header, parts: list[bytes]) -> bytes:
    work = _run_stylesheet if job["kind"] == "stylesheet" else _run_function
    try:
        with limit_resources(job["seconds"], job["memory_bytes"]):
            body, media_type = work(job, parts)
    except (Exception, SystemExit) as error:
        reasons = [(entry.type_name, entry.message) for entry in getattr(error, "error_log", ())]
        if isinstance(error, MemoryError) or any(name == "ERR_NO_MEMORY" for name, _ in reasons):
            return _refusal("transform-memory", f"needed more than {job['memory_bytes']} bytes of memory")
        told = dict.fromkeys(text for text in (str(error), *(text for _, text in reasons)) if text != "unknown error")
        # lxml names what it got as text by its place in memory, which differs from run to run.
        message = _MEMORY_ADDRESS.sub("", f"{type(error).__name__}: {'; '.join(told)}")
        return _refusal("transform-failed", " ".join(message.split()))
    if len(body) > job["output_bytes"]:
        return _refusal("transform-output-too-long", f"gave {len(body)} bytes, more than {job['output_bytes']}")
    return pack_message({"code": "", "media_type": media_type}, body)


def _refusal(code: str, message: str) -> bytes:
    return pack_message({"code": code, "message": message[:500]})


def _run_stylesheet(job: Header, parts: list[bytes]) -> tuple[bytes, str | None]:
    """Apply the first part, a stylesheet, to the second, XML in UTF-8; without that, tell its root's attributes."""
    etree = _etree()
    transform, media_type, attributes = _compile(parts[0])
    if len(parts) == 1:
        return json.dumps(attributes).encode(), media_type
    parser = etree.XMLParser(
        encoding="utf-8",
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=bool(job["lenient"]),
    )
    document = etree.fromstring(parts[1], parser)
    if document is None:
        raise ValueError("the document is empty")
    result = str(transform(document, url=etree.XSLT.strparam(job["url"])))
    return _XML_DECLARATION.sub("", result, count=1).encode("utf-8", "replace"), media_type


@lru_cache(maxsize=32)
def _compile(stylesheet: bytes) -> tuple[Any, str, dict[str, str]]:
    """A stylesheet that can neither read nor write; the media type of what it gives; its root's attributes."""
    etree = _etree()
    parser = etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False, huge_tree=False)
    # Access control does not see xsl:include and xsl:import: they are left to resolvers, and this one refuses all.
    parser.resolvers.add(type("NoResolver", (etree.Resolver,), {"resolve": _refuse_document})())
    root = etree.fromstring(stylesheet, parser)
    etree.XSLT.set_global_max_depth(_MAX_TEMPLATE_DEPTH)
    transform = etree.XSLT(root, access_control=etree.XSLTAccessControl.DENY_ALL)
    output: dict[str, str] = {}
    for element in root.findall(f"{_XSL}output"):
        output.update(element.attrib)
    default = "text/turtle" if output.get("method") == "text" else "application/rdf+xml"
    return transform, output.get("media-type", default), dict(root.attrib)


def _refuse_document(_resolver: object, url: str | None, _public_id: str | None, _context: object) -> None:
    raise ValueError(f"a stylesheet may not load another document: {url}")


def _etree() -> Any:
    """The module `lxml.etree`; published stubs know too little of XSLT to be of use."""
    return importlib.import_module("lxml.etree")


def _run_function(job: Header, parts: list[bytes]) -> tuple[bytes, str | None]:
    """Call a Python function with the bytes of a page; without a part, only import it."""
    _set_path(job["path"])
    module_name, _, name = job["function"].partition(":")
    function: Any = importlib.import_module(module_name)
    for attribute in name.split("."):
        function = getattr(function, attribute)
    if not callable(function):
        raise TypeError(f"{job['function']} is not a function")
    if not parts:
        return b"", None
    result = function(parts[0], job["url"], job["media_type"])
    if isinstance(result, str):
        result = result.encode("utf-8", "replace")
    if not isinstance(result, bytes):
        raise TypeError(f"{job['function']} returned {type(result).__name__}, not str or bytes")
    return result, None


def _set_path(path: list[str]) -> None:
    """Import from these folders; modules of others are forgotten, because another module may have the same name."""
    if sys.path == path:
        return
    left = tuple(f"{folder}{os.sep}" for folder in sys.path if folder not in path)
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(left):
            del sys.modules[name]
    sys.path[:] = path
    importlib.invalidate_caches()
