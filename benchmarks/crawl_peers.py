"""What rdfspider is raced against: a list of seeds in, pages fetched, read and thrown away.

    python benchmarks/crawl_peers.py loop|scrapy SEEDS --scope REGEX --limit PAGES --port PORT [--authority FILE] --output FILE

`loop` is the least that a crawler can do: fetch (pycurl), parse (lexbor), resolve and filter the links, ask a set whether
they were seen, compress the page and write it. No robots.txt, no pace, nothing durable, no data. `scrapy` is Scrapy with
extruct, all syntaxes that it has, on every page. Both follow links within their own hosts, so that two processes share the work.
"""

from __future__ import annotations

import argparse
import re
from collections import deque
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

from web import ADDRESS

CONNECTIONS = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("seeds", type=Path)
    parser.add_argument("--scope", required=True, help="a regular expression for the URLs to follow")
    parser.add_argument("--limit", type=int, required=True, help="answers after which to stop")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--authority", default=None, help="the certificate to trust")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    PEERS[arguments.peer](arguments)


def run_loop(arguments: argparse.Namespace) -> None:
    """Fetch, parse, links, seen test, gzip."""
    import pycurl

    seeds = arguments.seeds.read_text().split()
    ready, seen, in_scope, left = deque(seeds), set(seeds), re.compile(arguments.scope).match, arguments.limit
    multi = pycurl.CurlMulti()
    idle = [_make_handle(arguments) for _ in range(CONNECTIONS)]
    bodies: dict[Any, tuple[str, BytesIO]] = {}
    with arguments.output.open("wb") as output:
        while (ready and left) or bodies:
            while ready and idle and left:
                left -= 1
                handle, body, url = idle.pop(), BytesIO(), ready.popleft()
                handle.setopt(pycurl.URL, url)
                handle.setopt(pycurl.WRITEFUNCTION, body.write)
                bodies[handle] = url, body
                multi.add_handle(handle)
            multi.perform()
            _, done, failed = multi.info_read()
            if not done and not failed:
                multi.select(1.0)
            for handle in done:
                multi.remove_handle(handle)
                url, body = bodies.pop(handle)
                idle.append(handle)
                if handle.getinfo(pycurl.RESPONSE_CODE) == 200:
                    ready += _process(url, body.getvalue(), in_scope, seen, output.write)
                    multi.perform()  # so that the others do not wait for this page
            for handle, code, message in failed:
                raise SystemExit(f"{bodies[handle][0]}: {code} {message}")


def _make_handle(arguments: argparse.Namespace) -> Any:
    import pycurl

    handle = pycurl.Curl()
    handle.setopt(pycurl.CONNECT_TO, [f"::{ADDRESS}:{arguments.port}"])
    handle.setopt(pycurl.PROXY, "")
    handle.setopt(pycurl.ACCEPT_ENCODING, "gzip")
    handle.setopt(pycurl.NOSIGNAL, 1)
    handle.setopt(pycurl.TIMEOUT, 60)
    if arguments.authority:
        handle.setopt(pycurl.CAINFO, arguments.authority)
        handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
    return handle


def _process(
    url: str, body: bytes, in_scope: Callable[[str], object], seen: set[str], write: Callable[[bytes], object]
) -> list[str]:
    from isal import igzip
    from selectolax.lexbor import LexborHTMLParser

    found = []
    host = urlsplit(url).netloc
    for node in LexborHTMLParser(body).css("a[href]"):
        href = node.attributes["href"]
        if not href:
            continue
        try:
            link = urljoin(url, href).partition("#")[0]
        except ValueError:
            continue
        if in_scope(link) and link not in seen:
            seen.add(link)
            # Another host is another process's, or a seed of this one.
            if urlsplit(link).netloc == host:
                found.append(link)
    write(igzip.compress(body))
    return found


def run_scrapy(arguments: argparse.Namespace) -> None:
    """Scrapy, with extruct on every page."""
    import logging

    import extruct
    import scrapy
    from scrapy.crawler import CrawlerProcess
    from scrapy.linkextractors import LinkExtractor

    logging.disable(logging.CRITICAL)
    seeds = arguments.seeds.read_text().split()
    hosts = {urlsplit(seed).netloc for seed in seeds}
    links = LinkExtractor(allow=arguments.scope)

    class Spider(scrapy.Spider):
        name = "peer"

        async def start(self) -> Any:
            for seed in seeds:
                yield scrapy.Request(seed)

        def parse(self, response: Any, **_: Any) -> Any:
            for link in links.extract_links(response):
                if urlsplit(link.url).netloc in hosts:
                    yield scrapy.Request(link.url)
            try:
                data = extruct.extract(response.text, base_url=response.url, errors="ignore")
            except Exception:  # pages that it cannot decode or parse
                data = {}
            yield {"url": response.url, "data": data}

    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": CONNECTIONS,
            "CONCURRENT_REQUESTS_PER_DOMAIN": 8,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "RETRY_ENABLED": False,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_ENABLED": False,
            "CLOSESPIDER_PAGECOUNT": arguments.limit,
            "DNS_RESOLVER": f"{__name__}.LoopbackResolver",
            "FEEDS": {str(arguments.output): {"format": "jsonlines"}},
        }
    )
    LoopbackResolver.port = arguments.port
    process.crawl(Spider)
    process.start()


class LoopbackResolver:
    """Scrapy's way to have every name at one address, and every connection at the port of the local web."""

    port = 0

    def __init__(self, reactor: Any) -> None:
        self.reactor = reactor

    @classmethod
    def from_crawler(cls, crawler: Any, reactor: Any) -> LoopbackResolver:
        return cls(reactor)

    def install_on_reactor(self) -> None:
        self.reactor.installNameResolver(self)

    def resolveHostName(self, receiver: Any, name: str, portNumber: int = 0, *_: Any, **__: Any) -> Any:  # noqa: N802, N803
        from twisted.internet.address import IPv4Address

        receiver.resolutionBegan(self)
        receiver.addressResolved(IPv4Address("TCP", ADDRESS, self.port))
        receiver.resolutionComplete()
        return receiver


PEERS = {"loop": run_loop, "scrapy": run_scrapy}

if __name__ == "__main__":
    main()
