"""A local web for crawlers to race on: a folder of real pages in, hundreds of hosts served by nginx on a loopback address out.

Every host has an index page that links to twenty of the pages and to two further hosts. The pages are served as they are,
compressed, so their own links lead out of this web, or to nothing: `scope` says which are part of it, and every contender has
to find them among the others. A *deep* web has a page at every path, so that the links within a host (fifty a page) are part of
it too and it never ends. With TLS, the certificates are signed by an authority made for this run.
"""

from __future__ import annotations

import getpass
import gzip
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

ADDRESS = "127.0.0.1"
HOSTS_PER_CERTIFICATE = 20
"""One certificate for all would be a long one, sent with every handshake."""


@dataclass(frozen=True, slots=True)
class Visit:
    """One line of nginx's log."""

    ended: float
    """Seconds since 1970."""
    status: int
    sent_bytes: int
    host: str
    path: str

    @property
    def is_page(self) -> bool:
        """Whether a real page was served, not an index, a robots.txt or an error."""
        return self.status == 200 and self.path != "/"


class CorpusWeb:
    """The web, as a context manager: nginx runs while it is open."""

    def __init__(
        self, corpus: Path, folder: Path, hosts: int, pages_per_host: int = 20, *, tls: bool = False, deep: bool = False
    ) -> None:
        self.folder = folder
        self.scope = rf"^https?://h[0-9]+\.test/{'' if deep else '(corpus/[0-9]+.html)?$'}"
        """A regular expression for the URLs of this web."""
        self.hosts = [f"h{number}.test" for number in range(hosts)]
        self.scheme = "https" if tls else "http"
        self.authority = folder / "authority.pem"
        """The certificate to trust; only there with TLS."""
        self.port = _find_port()
        folder.mkdir(parents=True)
        count = self._write_pages(corpus, pages_per_host)
        self._configuration = folder / "nginx.conf"
        self._configuration.write_text(
            _CONFIGURATION.format(
                folder=folder,
                user=_user_line(),
                pages="".join(f"{int(10_000 / count) / 100}% {number}; " for number in range(count - 1))
                + f"* {count - 1};",
                servers=self._write_servers("rewrite ^ /corpus/$any_page.html break;" if deep else "return 404;", tls),
            )
        )

    def __enter__(self) -> Self:
        program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin") or "nginx"
        self.process = subprocess.Popen([program, "-e", str(self.folder / "error.log"), "-c", str(self._configuration)])
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex((ADDRESS, self.port)) == 0:
                    return self
            time.sleep(0.05)
        self.__exit__()
        raise RuntimeError(f"nginx did not start: {(self.folder / 'error.log').read_text()}")

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)

    @property
    def resolve(self) -> str:
        """The static entry that leads every host here."""
        return f"*.test={ADDRESS}:{self.port}"

    def seeds(self, hosts: int | None = None) -> list[str]:
        """The index pages of the first so many hosts."""
        return [f"{self.scheme}://{host}/" for host in self.hosts[:hosts]]

    def start_crawl(self, folder: Path, errors: Path, *flags: str) -> subprocess.Popen[bytes]:
        """Have rdfspider crawl it with two shards, as fast as it can; what it says goes to a file."""
        seeds = folder.with_suffix(".seeds")
        seeds.write_text("\n".join(self.seeds()) + "\n")
        command = [sys.executable, "-m", "rdfspider", "crawl", "--seeds", str(seeds), "--dir", str(folder)]
        command += ["--scope", "any", "--include", self.scope, "--delay", "0", "--shards", "2"]
        command += ["--resolve", self.resolve, "--allow-private", "--contact", "https://example.org/", *flags]
        with errors.open("wb") as stream:
            return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stream)

    def read_log(self) -> list[Visit]:
        """Every visit since the log was last cleared."""
        visits = []
        for line in (self.folder / "access.log").read_text().splitlines():
            ended, status, sent_bytes, host, path = line.split(" ", 4)
            visits.append(Visit(float(ended), int(status), int(sent_bytes), host, path))
        return visits

    def clear_log(self) -> None:
        """Forget all visits."""
        os.truncate(self.folder / "access.log", 0)

    def cpu_s(self) -> float:
        """The processor time that nginx has taken."""
        pids = [self.process.pid, *_children(self.process.pid)]
        ticks = sum(sum(map(int, _stat(pid)[13:15])) for pid in pids)
        return ticks / os.sysconf("SC_CLK_TCK")

    def _write_pages(self, corpus: Path, pages_per_host: int) -> int:
        """Put pages and index pages where nginx finds them; returns how many pages there are."""
        entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
        for folder in ("corpus", "index"):
            (self.folder / "root" / folder).mkdir(parents=True)
        for number, entry in enumerate(entries):
            shutil.copyfile(corpus / entry["file"], self.folder / f"root/corpus/{number}.html.gz")
        for number, host in enumerate(self.hosts):
            first = number * pages_per_host
            links = [f"/corpus/{(first + index) % len(entries)}.html" for index in range(pages_per_host)]
            next_hosts = self.hosts[2 * number + 1 : 2 * number + 3]
            links += [f"{self.scheme}://{name}/" for name in next_hosts]
            body = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
            page = f"<!doctype html><title>{host}</title><ul>{body}</ul>".encode()
            (self.folder / f"root/index/{host}.html.gz").write_bytes(gzip.compress(page))
        return len(entries)

    def _write_servers(self, elsewhere: str, tls: bool) -> str:
        if not tls:
            return _SERVER.format(listen=f"{ADDRESS}:{self.port}", names="_", more="", elsewhere=elsewhere)
        self._sign_authority()
        servers = []
        for start in range(0, len(self.hosts), HOSTS_PER_CERTIFICATE):
            names = self.hosts[start : start + HOSTS_PER_CERTIFICATE]
            certificate = self._sign(names)
            more = f"ssl_certificate {certificate}; ssl_certificate_key {self.folder}/key.pem;"
            listen = f"{ADDRESS}:{self.port} ssl http2"
            servers.append(_SERVER.format(listen=listen, names=" ".join(names), more=more, elsewhere=elsewhere))
        return "\n".join(servers)

    def _sign_authority(self) -> None:
        for name in ("authority-key.pem", "key.pem"):
            _openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", str(self.folder / name))
        subject = ["-subj", "/CN=an authority for one benchmark", "-days", "2"]
        key = str(self.folder / "authority-key.pem")
        _openssl("req", "-x509", "-new", "-key", key, "-out", str(self.authority), *subject)

    def _sign(self, names: Sequence[str]) -> Path:
        request, certificate = self.folder / "request.pem", self.folder / f"{names[0]}.pem"
        _openssl("req", "-new", "-key", f"{self.folder}/key.pem", "-subj", f"/CN={names[0]}", "-out", str(request))
        extensions = self.folder / "extensions.cnf"
        extensions.write_text("subjectAltName=" + ",".join(f"DNS:{name}" for name in names))
        signer = ["-CA", str(self.authority), "-CAkey", f"{self.folder}/authority-key.pem", "-CAcreateserial"]
        _openssl(
            "x509",
            "-req",
            "-in",
            str(request),
            *signer,
            "-days",
            "2",
            "-extfile",
            str(extensions),
            "-out",
            str(certificate),
        )
        return certificate


_CONFIGURATION = """
daemon off;
worker_processes 1;
{user}
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 4096; }}
http {{
    log_format line '$msec $status $body_bytes_sent $host $request_uri';
    access_log {folder}/access.log line;
    client_body_temp_path {folder}/temporary; proxy_temp_path {folder}/temporary;
    fastcgi_temp_path {folder}/temporary; uwsgi_temp_path {folder}/temporary; scgi_temp_path {folder}/temporary;
    default_type text/html;
    types {{ }}
    sendfile on; tcp_nopush on; open_file_cache max=2000;
    keepalive_timeout 60; keepalive_requests 1000000;
    gzip_static always; gunzip on;
    root {folder}/root;
    split_clients $host$request_uri $any_page {{ {pages} }}
{servers}
}}
"""

_SERVER = """    server {{
        listen {listen};
        server_name {names};
        {more}
        location = / {{ rewrite ^ /index/$host.html break; }}
        location /corpus/ {{ }}
        location = /robots.txt {{ return 404; }}
        location / {{ {elsewhere} }}
    }}"""


def _user_line() -> str:
    """Started by root, nginx would serve as somebody who may not read the folder."""
    return f"user {getpass.getuser()};" if os.geteuid() == 0 else ""


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind((ADDRESS, 0))
        port: int = probe.getsockname()[1]
        return port


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat; the name, which may have blanks, is one of them."""
    text = Path(f"/proc/{pid}/stat").read_text()
    start, _, end = text.rpartition(")")
    return [*start.split(" (", 1), *end.split()]


def _children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
