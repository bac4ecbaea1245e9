"""Places for the objects of backups: a folder, and servers on loopback, of which one can be away for a while. For tests only."""

import base64
import hashlib
import hmac
import shutil
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from email.utils import formatdate
from pathlib import Path

import pytest

from google_store import GoogleServer
from ports import find_free_ports, wait_for_ports

BUCKET = "bucket"


class S3Server:
    """moto's server, as a process of its own, which keeps its objects in memory."""

    def __init__(self) -> None:
        (self.port,) = find_free_ports(1)
        self.endpoint = f"http://127.0.0.1:{self.port}"
        self.environment = {
            "AWS_ACCESS_KEY_ID": "key",
            "AWS_SECRET_ACCESS_KEY": "secret",
            "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.endpoint,
        }
        command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_ports(self._process, self.port)
        urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/{BUCKET}", method="PUT")).close()

    def url(self, path: str) -> str:
        return f"s3://{BUCKET}/{path}"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class AzureServer:
    """Azurite, the emulator of Azure's blob storage, which keeps its objects in memory."""

    _ACCOUNT = "devstoreaccount1"
    # Known to all: Azurite has this account and no other.
    _KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="

    def __init__(self, program: str) -> None:
        (port,) = find_free_ports(1)
        self._endpoint = f"http://127.0.0.1:{port}/{self._ACCOUNT}"
        self.environment = {
            "AZURE_STORAGE_ACCOUNT_NAME": self._ACCOUNT,
            "AZURE_STORAGE_ACCOUNT_KEY": self._KEY,
            "AZURE_STORAGE_ENDPOINT": self._endpoint,
        }
        flags = ("--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--disableTelemetry")
        command = [program, "--blobHost", "127.0.0.1", "--blobPort", str(port), *flags]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_ports(self._process, port)
        self._make_container()

    def _make_container(self) -> None:
        signed = {"x-ms-date": formatdate(usegmt=True), "x-ms-version": "2021-08-06"}
        account, lines = self._ACCOUNT, "".join(f"{name}:{value}\n" for name, value in signed.items())
        text = "PUT" + 12 * "\n" + f"{lines}/{account}/{account}/{BUCKET}\nrestype:container"
        digest = hmac.new(base64.b64decode(self._KEY), text.encode(), hashlib.sha256).digest()
        signed["Authorization"] = f"SharedKey {account}:{base64.b64encode(digest).decode()}"
        url = f"{self._endpoint}/{BUCKET}?restype=container"
        urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=signed)).close()

    def url(self, path: str) -> str:
        return f"az://{BUCKET}/{path}"

    def close(self) -> None:
        self._process.kill()
        self._process.wait()


class Gate:
    """A port of its own that leads to a server while it is open."""

    def __init__(self, port: int) -> None:
        self._target = port
        (self.port,) = find_free_ports(1)
        self._listener: socket.socket | None = None
        self._sockets: set[socket.socket] = set()

    def open(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def close(self) -> None:
        """Refuse new connections, and break those that there are."""
        if self._listener is not None:
            self._listener.shutdown(socket.SHUT_RDWR)
            self._listener.close()
            self._listener = None
        for one in list(self._sockets):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _accept(self, listener: socket.socket) -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self._sockets |= {client, server}
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._forward, args=pair, daemon=True).start()

    def _forward(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._sockets.discard(source)
        source.close()


@pytest.fixture(scope="module")
def s3_server() -> Iterator[S3Server]:
    server = S3Server()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def azure_server() -> Iterator[AzureServer]:
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("azurite is missing, which stands in for Azure: npm install --global azurite")
    server = AzureServer(program)
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def google_server() -> Iterator[GoogleServer]:
    server = GoogleServer()
    try:
        yield server
    finally:
        server.close()


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty place for objects."""
    if request.param == "folder":
        return str(tmp_path / "objects")
    server: S3Server | AzureServer | GoogleServer = request.getfixturevalue(f"{request.param}_server")
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return server.url(tmp_path.name)


every_place = pytest.mark.parametrize("place", ["folder", "s3", "google", "azure"], indirect=True)
"""Runs a test also with a server that speaks as Google's does, and with Azure's emulator, if that is there."""
