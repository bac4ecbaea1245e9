"""Runs code that is not trusted to end: stylesheets, functions and commands, within time, memory and output.

Stylesheets and functions run in one helper process, which is started when first needed, serves all jobs of this process
and is replaced when it had to be killed; commands run in processes of their own. Whatever happens to them, the caller
gets an Output or a Refusal, never an exception and never a process that stays.
"""

import atexit
import contextlib
import math
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rdfspider.config import ExtractConfig
from rdfspider.extract import jsonld, rdf
from rdfspider.extract.statements import Statements
from rdfspider.extract.untrusted_process import Header, message_bytes, pack_message, unpack_message
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

_START_SECONDS = 30.0
_CHUNK_BYTES = 65536
_STDERR_BYTES = 2000
_HEADER_BYTES = 65536

# The shell sets the limits and is then replaced by the command; in our own process, other threads forbid that.
_LIMITED = 'ulimit -v "$1" 2>/dev/null; ulimit -t "$2" 2>/dev/null; shift 2; exec "$@"'


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a job may take, how much address space it may use, how much it may answer."""

    seconds: float
    memory_bytes: int
    output_bytes: int

    @classmethod
    def of(cls, config: ExtractConfig) -> "Limits":
        """The limits that the settings give."""
        return cls(config.transform_seconds, config.transform_memory_bytes, config.max_body_bytes)


@dataclass(frozen=True, slots=True)
class Output:
    """What a job gave; `media_type` is None where only the caller knows it."""

    body: bytes
    media_type: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a job gave nothing: the code and the message of a Problem."""

    code: str
    message: str


def run_stylesheet(
    stylesheet: bytes, xml: str | None, url: str, limits: Limits, lenient: bool = False
) -> Output | Refusal:
    """Apply a stylesheet to XML text; `lenient` forgives undeclared prefixes.

    Without a text, the stylesheet is only compiled; the output is then the attributes of its root element, as JSON.
    """
    parts = (stylesheet,) if xml is None else (stylesheet, xml.encode("utf-8", "replace"))
    return _HELPER.run({"kind": "stylesheet", "url": _clean(url), "lenient": lenient}, parts, limits)


def run_function(
    function: str, folder: str, body: bytes | None, url: str, media_type: str, limits: Limits
) -> Output | Refusal:
    """Call `package.module:function` with a page's bytes, URL and media type; without bytes, only import it."""
    path = [folder, *sys.path] if folder else sys.path
    job = {
        "kind": "function",
        "function": function,
        "path": [entry or str(Path.cwd()) for entry in path],
        "url": _clean(url),
        "media_type": media_type,
    }
    return _HELPER.run(job, () if body is None else (body,), limits)


def run_command(
    command: tuple[str, ...], folder: str, body: bytes, url: str, media_type: str, limits: Limits
) -> Output | Refusal:
    """Run a command with a page's bytes as its input; what it writes is the output. All its processes end with it."""
    kibibytes, cpu_seconds = limits.memory_bytes // 1024, (math.ceil(limits.seconds) + 1) * (os.cpu_count() or 1)
    deadline = time.monotonic() + limits.seconds
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", _LIMITED, "rdfspider", str(kibibytes), str(cpu_seconds), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd=folder or None,
            env={**os.environ, "RDFSPIDER_URL": _clean(url), "RDFSPIDER_MEDIA_TYPE": _clean(media_type)},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Refusal("transform-failed", f"cannot be started: {error}")
    errors = bytearray()
    try:
        output = _exchange(process, body, deadline, lambda answer: len(answer) > limits.output_bytes, errors)
        if len(output) > limits.output_bytes:
            return Refusal("transform-output-too-long", f"gave more than {limits.output_bytes} bytes")
        status = process.wait(max(0.0, deadline - time.monotonic()))
    except (TimeoutError, subprocess.TimeoutExpired):
        return Refusal("transform-timeout", f"killed after {limits.seconds:g} s")
    except OSError as error:
        return Refusal("transform-failed", f"cannot be talked to: {error}")
    finally:
        _kill(process)
    if status != 0:
        said = " ".join(errors.decode("utf-8", "replace").split())
        return Refusal("transform-failed", f"{_describe(status)}: {said[-300:]}" if said else _describe(status))
    return Output(bytes(output))


def take_answer(answer: Output | Refusal, name: str, out: Statements) -> None:
    """Put what a job gave into the statements of its page, or say in a Problem why there is nothing."""
    if isinstance(answer, Refusal):
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


class _Helper:
    """The helper process of this process: at most one, one job at a time, whichever thread asks."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, job: Header, parts: tuple[bytes, ...], limits: Limits) -> Output | Refusal:
        """The answer to one job."""
        job = {
            **job,
            "seconds": limits.seconds,
            "memory_bytes": limits.memory_bytes,
            "output_bytes": limits.output_bytes,
        }
        with self._lock:
            try:
                answer = self._ask(pack_message(job, *parts), limits)
            except BaseException:
                self._stop()
                raise
            # Only a job that failed by itself leaves a helper that can be trusted with the next one.
            if isinstance(answer, Refusal) and answer.code != "transform-failed":
                self._stop()
            return answer

    def _ask(self, message: bytes, limits: Limits) -> Output | Refusal:
        try:
            process = self._started()
        except OSError as error:
            return Refusal("transform-crashed", f"no helper process: {error or 'it took too long to start'}")
        most = limits.output_bytes + _HEADER_BYTES

        def enough(answer: bytearray) -> bool:
            length = message_bytes(answer)
            return length is not None and (len(answer) >= length or length > most)

        try:
            answer = _exchange(process, message, time.monotonic() + limits.seconds, enough)
        except TimeoutError:
            return Refusal("transform-timeout", f"killed after {limits.seconds:g} s")
        except OSError as error:
            return Refusal("transform-crashed", f"cannot be talked to: {error}")
        length = message_bytes(answer)
        if length is not None and length > most:
            return Refusal("transform-output-too-long", f"gave more than {limits.output_bytes} bytes")
        if length is None or len(answer) < length:
            return Refusal("transform-crashed", _describe(_kill(process)))
        return _read_answer(bytes(answer))

    def _started(self) -> subprocess.Popen[bytes]:
        """The running helper, after it has said that it is ready."""
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        script = Path(__file__).with_name("untrusted_process.py")
        self._process = process = subprocess.Popen(
            [sys.executable, "-P", str(script)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )
        ready = _exchange(process, b"", time.monotonic() + _START_SECONDS, lambda a: message_bytes(a) == len(a))
        if not ready:
            raise OSError(f"{script} {_describe(_kill(process))}")
        return process

    def _stop(self) -> None:
        if self._process is not None:
            if self._process.returncode is None:
                _kill(self._process)
            _close_pipes(self._process)
            self._process = None

    def close(self) -> None:
        """End the helper process; the next job starts another."""
        with self._lock:
            self._stop()

    def forget(self) -> None:
        """In a forked child: leave the helper to the parent, whose it is."""
        self._lock = threading.Lock()
        if self._process is not None:
            _close_pipes(self._process)
            self._process.returncode = 0  # so that nobody here waits for it
            self._process = None


def _read_answer(answer: bytes) -> Output | Refusal:
    try:
        header, parts = unpack_message(answer)
        if header["code"]:
            return Refusal(header["code"], header["message"])
        return Output(parts[0], header["media_type"])
    except (ValueError, KeyError, IndexError) as error:
        return Refusal("transform-crashed", f"not an answer: {error}")


def _exchange(
    process: subprocess.Popen[bytes],
    data: bytes,
    deadline: float,
    enough: Callable[[bytearray], bool],
    errors: bytearray | None = None,
) -> bytearray:
    """Write the data and read the answer at the same time, until it is enough or ends; TimeoutError at the deadline.

    With `errors`, the input is closed after the data, and the end of what the process says on stderr is put there.
    """
    assert process.stdin is not None and process.stdout is not None
    answer, rest = bytearray(), memoryview(data)
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if errors is not None and process.stderr is not None:
            selector.register(process.stderr, selectors.EVENT_READ)
        os.set_blocking(process.stdin.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        reading = len(selector.get_map()) - 1
        while reading:
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                raise TimeoutError
            for key, _ in selector.select(remaining):
                if key.fileobj is process.stdin:
                    rest = _write_some(key.fd, rest)
                    if not rest:
                        selector.unregister(process.stdin)
                        if errors is not None:
                            process.stdin.close()
                elif not (chunk := os.read(key.fd, _CHUNK_BYTES)):
                    selector.unregister(key.fileobj)
                    reading -= 1
                elif key.fileobj is process.stdout:
                    answer += chunk
                    if enough(answer):
                        return answer
                elif errors is not None:
                    errors += chunk
                    del errors[:-_STDERR_BYTES]
    return answer


def _write_some(descriptor: int, rest: memoryview) -> memoryview:
    """What remains after writing as much as there is room for: nothing once the other side has stopped reading."""
    try:
        return rest[os.write(descriptor, rest[:_CHUNK_BYTES]) :]
    except BlockingIOError:
        return rest
    except BrokenPipeError:
        return rest[:0]


def _kill(process: subprocess.Popen[bytes]) -> int:
    """End a process and all that it started, and give its exit status."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    _close_pipes(process)
    return process.wait()


def _close_pipes(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _describe(status: int) -> str:
    return f"ended with exit status {status}" if status >= 0 else f"was killed by signal {-status}"


def _clean(text: str) -> str:
    """Text that environments and XSLT parameters can carry."""
    return text.encode("utf-8", "replace").decode().replace("\0", "")


_HELPER = _Helper()
atexit.register(_HELPER.close)
os.register_at_fork(after_in_child=_HELPER.forget)
