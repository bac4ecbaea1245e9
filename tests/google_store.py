"""A server that speaks the XML interface of Google's store, as Google documents it, to those who show its token. For tests only.

No emulator of Google's store has this interface, which is the one that obstore uses. Objects are kept in memory.
"""

import hashlib
import re
import threading
from collections.abc import Mapping
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

BUCKET = "bucket"
_TOKEN = "token"
_KEYS_PER_LIST = 3
"""Few, so that tests meet lists of several parts; Google's have a thousand."""


class GoogleServer:
    """The server, in threads of this process."""

    def __init__(self) -> None:
        self.objects: dict[str, tuple[int, bytes]] = {}
        """By key: the generation, and the bytes."""
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.numbers = count(1)
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), lambda *given: _Handler(self, *given))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{self._server.server_port}"
        self.environment = {"GOOGLE_BASE_URL": address, "GOOGLE_BEARER_TOKEN": _TOKEN}

    def url(self, path: str) -> str:
        return f"gs://{BUCKET}/{path}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def __init__(self, store: GoogleServer, *given: object) -> None:
        self._store = store
        super().__init__(*given)  # type: ignore[arg-type]

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        body = self._begin()
        if body is None:
            return
        if not self._key:
            self._list()
            return
        found = self._store.objects.get(self._key)
        if found is None:
            self._answer(404, _error("NoSuchKey"))
            return
        generation, content = found
        told = {**_describe(generation, content), "Content-Type": "application/octet-stream"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self._answer(200, content, told)
            return
        start, end = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        if start > end:
            self._answer(416, _error("InvalidRange"))
            return
        told["Content-Range"] = f"bytes {start}-{end}/{len(content)}"
        self._answer(206, content[start : end + 1], told)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_PUT(self) -> None:
        body = self._begin()
        if body is None:
            return
        if "uploadId" in self._query:
            upload = self._store.uploads.get(self._query["uploadId"])
            if upload is None:
                self._answer(404, _error("NoSuchUpload"))
                return
            upload[int(self._query["partNumber"])] = body
            self._answer(200, told={"ETag": _etag(body)})
            return
        with self._store.lock:
            known = self._store.objects.get(self._key)
            wanted = self.headers.get("x-goog-if-generation-match")
            if wanted is not None and int(wanted) != (known[0] if known else 0):
                self._answer(412, _error("PreconditionFailed"))
                return
            self._keep(body)

    def do_POST(self) -> None:
        body = self._begin()
        if body is None:
            return
        if "uploads" in self._query:
            name = f"upload-{next(self._store.numbers)}"
            self._store.uploads[name] = {}
            self._answer(200, _result("InitiateMultipartUploadResult", UploadId=name, Bucket=BUCKET, Key=self._key))
            return
        parts = self._store.uploads.pop(self._query.get("uploadId", ""), None)
        if parts is None:
            self._answer(404, _error("NoSuchUpload"))
            return
        listed = [
            (int(part.findtext("{*}PartNumber") or 0), part.findtext("{*}ETag"))
            for part in ElementTree.fromstring(body).findall("{*}Part")
        ]
        if listed != [(number, _etag(parts[number])) for number in sorted(parts)]:
            self._answer(400, _error("InvalidPart"))
            return
        with self._store.lock:
            self._keep(b"".join(parts[number] for number in sorted(parts)), "CompleteMultipartUploadResult")

    def do_DELETE(self) -> None:
        if self._begin() is None:
            return
        if "uploadId" in self._query:
            is_there = self._store.uploads.pop(self._query["uploadId"], None) is not None
        else:
            is_there = self._store.objects.pop(self._key, None) is not None
        self._answer(204 if is_there else 404, b"" if is_there else _error("NoSuchKey"))

    def _begin(self) -> bytes | None:
        """Read the request; None if it was refused."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        bucket, _, key = address.path.lstrip("/").partition("/")
        self._key = unquote(key)
        self._query = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        if self.headers.get("Authorization") != f"Bearer {_TOKEN}":
            self._answer(401, _error("AuthenticationRequired"))
        elif bucket != BUCKET:
            self._answer(404, _error("NoSuchBucket"))
        else:
            return body
        return None

    def _keep(self, content: bytes, result: str = "") -> None:
        generation = next(self._store.numbers)
        self._store.objects[self._key] = (generation, content)
        answer = _result(result, Bucket=BUCKET, Key=self._key, ETag=_etag(content)) if result else b""
        self._answer(200, answer, {"ETag": _etag(content), "x-goog-generation": str(generation)})

    def _list(self) -> None:
        prefix, after = self._query.get("prefix", ""), self._query.get("continuation-token", "")
        keys = sorted(key for key in self._store.objects if key.startswith(prefix) and key > after)
        shown, rest = keys[:_KEYS_PER_LIST], keys[_KEYS_PER_LIST:]
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Generation>{generation}</Generation><Size>{len(content)}</Size>"
            f"<LastModified>2026-01-02T03:04:05.678Z</LastModified><ETag>{_etag(content)}</ETag></Contents>"
            for key in shown
            for generation, content in [self._store.objects[key]]
        )
        more = f"<NextContinuationToken>{escape(shown[-1])}</NextContinuationToken>" if rest else ""
        flags = f"<Name>{BUCKET}</Name><IsTruncated>{'true' if rest else 'false'}</IsTruncated>"
        self._answer(200, f"<ListBucketResult>{flags}{more}{entries}</ListBucketResult>".encode())

    def _answer(self, status: int, body: bytes = b"", told: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (told or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _describe(generation: int, content: bytes) -> dict[str, str]:
    return {
        "ETag": _etag(content),
        "Last-Modified": formatdate(usegmt=True),
        "x-goog-generation": str(generation),
    }


def _etag(content: bytes) -> str:
    return f'"{hashlib.md5(content).hexdigest()}"'


def _result(name: str, **values: str) -> bytes:
    return f"<{name}>{''.join(f'<{key}>{escape(text)}</{key}>' for key, text in values.items())}</{name}>".encode()


def _error(code: str) -> bytes:
    return _result("Error", Code=code)
