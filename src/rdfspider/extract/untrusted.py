"""Runs code that is not trusted to end: stylesheets, functions and commands, within time, memory and output.

Stylesheets and functions run in one child process, which is started when first needed, serves all jobs of this process
and is replaced when it had to be killed; commands run in processes of their own. Whatever happens to them, the caller
gets an Output or a Refusal, never an exception and never a process that stays.
"""

import atexit
import math
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from rdfspider.config import ExtractConfig
from rdfspider.extract import jsonld, rdf
from rdfspider.extract.statements import Statements
from rdfspider.extract.untrusted_process import Header, pack_message, unpack_message
from rdfspider.processes.child import (
    Child,
    DiedError,
    NotStartedError,
    RestartedChild,
    TooLongError,
    describe_exit,
    make_command,
    wait_seconds,
)
from rdfspider.records import Content, ContentKind

RESULT_TYPES = frozenset(
    {
        "application/ld+json",
        "application/n-quads",
        "application/n-triples",
        "application/rdf+xml",
        "application/trig",
        "text/n3",
        "text/turtle",
    }
)
"""The media types in which stylesheets and transforms may give their RDF."""

_HEADER_BYTES = 65536

# The shell sets the limits and is then replaced by the command; in our own process, other threads forbid that.
_LIMITED = 'ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"'


@dataclass(frozen=True, slots=True)
class UntrustedLimits:
    """How long a job may take, how much address space it may use, how much it may answer."""

    seconds: float
    memory_bytes: int
    output_bytes: int

    @classmethod
    def of(cls, config: ExtractConfig) -> "UntrustedLimits":
        """The limits that the settings give."""
        return cls(config.transform_seconds, config.transform_memory_bytes, config.max_body_bytes)


@dataclass(frozen=True, slots=True)
class Output:
    """What a job gave; `media_type` is None where only the caller knows it."""

    body: bytes
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class UntrustedRefusal:
    """Why a job gave nothing: the code and the message of a Problem."""

    code: str
    message: str


def run_stylesheet(
    stylesheet: bytes, xml: str | None, url: str, limits: UntrustedLimits, lenient: bool = False
) -> Output | UntrustedRefusal:
    """Apply a stylesheet to XML text; `lenient` forgives undeclared prefixes.

    Without a text, the stylesheet is only compiled; the output is then the attributes of its root element, as JSON.
    """
    parts = (stylesheet,) if xml is None else (stylesheet, xml.encode("utf-8", "replace"))
    return _ask({"kind": "stylesheet", "url": _clean(url), "lenient": lenient}, parts, limits)


def run_function(
    function: str, folder: str, body: bytes | None, url: str, media_type: str, limits: UntrustedLimits
) -> Output | UntrustedRefusal:
    """Call `package.module:function` with a page's bytes, URL and media type; without bytes, only import it."""
    path = [folder, *sys.path] if folder else sys.path
    job = {
        "kind": "function",
        "function": function,
        "path": [entry or str(Path.cwd()) for entry in path],
        "url": _clean(url),
        "media_type": media_type,
    }
    return _ask(job, () if body is None else (body,), limits)


def run_command(
    command: tuple[str, ...], folder: str, body: bytes, url: str, media_type: str, limits: UntrustedLimits
) -> Output | UntrustedRefusal:
    """Run a command with a page's bytes as its input; what it writes is the output. All its processes end with it."""
    kibibytes, cpu_seconds = limits.memory_bytes // 1024, (math.ceil(limits.seconds) + 1) * (os.cpu_count() or 1)
    wait = wait_seconds(limits.seconds)
    try:
        child = Child(
            ["/bin/sh", "-c", _LIMITED, "rdfspider", str(kibibytes), str(cpu_seconds), *command],
            keeps_errors=True,
            cwd=folder or None,
            env={**os.environ, "RDFSPIDER_URL": _clean(url), "RDFSPIDER_MEDIA_TYPE": _clean(media_type)},
        )
    except (OSError, ValueError) as error:
        return UntrustedRefusal("transform-failed", f"cannot be started: {error}")
    try:
        output, status, errors = child.exchange(body, wait, limits.output_bytes)
    except (TooLongError, OSError) as error:
        return _refuse(error, "transform-failed", limits)
    finally:
        child.end()
    if status != 0:
        reason = " ".join(errors.split())[-300:]
        return UntrustedRefusal("transform-failed", ": ".join(filter(None, (describe_exit(status), reason))))
    return Output(output)


def take_answer(answer: Output | UntrustedRefusal, name: str, out: Statements) -> None:
    """Put what a job gave into the statements of its page, or say in a Problem why there is nothing."""
    if isinstance(answer, UntrustedRefusal):
        out.problem(answer.code, f"{name}: {answer.message}")
        return
    text = answer.body.decode("utf-8", "replace")
    if not text.strip():
        return
    media_type = (answer.media_type or "").partition(";")[0].strip().lower()
    if media_type not in RESULT_TYPES:
        media_type = "application/rdf+xml" if "xml" in media_type else "text/turtle"
    if media_type == "application/ld+json":
        jsonld.extract_document(text, out)
    else:
        rdf.extract_rdf_document(Content(media_type, ContentKind.RDF, "utf-8", text), out)


def _ask(job: Header, parts: tuple[bytes, ...], limits: UntrustedLimits) -> Output | UntrustedRefusal:
    """What the child makes of a job."""
    message = pack_message(job | asdict(limits), *parts)
    try:
        answer = _CHILD.ask(message, limits.seconds, limits.output_bytes + _HEADER_BYTES)
    except NotStartedError as error:
        return UntrustedRefusal("transform-crashed", f"no process for it: it {error}")
    except DiedError as error:
        return UntrustedRefusal("transform-crashed", str(error))
    except (TooLongError, OSError) as error:
        return _refuse(error, "transform-crashed", limits)
    return _read_answer(answer)


def _read_answer(answer: bytes) -> Output | UntrustedRefusal:
    try:
        header, parts = unpack_message(answer)
        if header["code"]:
            return UntrustedRefusal(header["code"], header["message"])
        return Output(parts[0], header["media_type"])
    except (ValueError, KeyError, IndexError) as error:
        return UntrustedRefusal("transform-crashed", f"not an answer: {error}")


def _is_last(answer: bytes) -> bool:
    """Only a job that failed by itself leaves a process that can be trusted with the next one."""
    found = _read_answer(answer)
    return isinstance(found, UntrustedRefusal) and found.code != "transform-failed"


def _refuse(error: TooLongError | OSError, code: str, limits: UntrustedLimits) -> UntrustedRefusal:
    if isinstance(error, TooLongError):
        return UntrustedRefusal("transform-output-too-long", f"gave more than {limits.output_bytes} bytes")
    if isinstance(error, TimeoutError):
        return UntrustedRefusal("transform-timeout", f"killed after {limits.seconds:g} s")
    return UntrustedRefusal(code, f"cannot be talked to: {error}")


def _clean(text: str) -> str:
    """Text that environments and XSLT parameters can carry."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


_CHILD = RestartedChild(lambda: Child(make_command("rdfspider.extract.untrusted_process")), _is_last)
atexit.register(_CHILD.close)
os.register_at_fork(after_in_child=_CHILD.forget)
