"""Generated sites: host names and a seed for chance in, pages that are all reachable from the first one out."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rdfspider.domains import Domains, bundled_suffix_list
from web.server import Answer, Answers

NOT_FOUND = Answer(404, b"<title>There is nothing here</title>")


@dataclass(slots=True)
class Site:
    """What the hosts of a web answer. It is a function that a `Web` takes; tests add and change answers at will."""

    answers: dict[tuple[str, str], Answer] = field(default_factory=dict)
    robots: dict[str, Answer] = field(default_factory=dict)
    """The robots.txt of hosts; 404 for those that have none."""

    def __call__(self, host: str, path: str, headers: Mapping[str, str]) -> Answer:
        """The answer to a request."""
        if path == "/robots.txt":
            return self.robots.get(host, NOT_FOUND)
        return self.answers.get((host, path), NOT_FOUND)

    def add(self, url: str, answer: Answer) -> None:
        """Put an answer at a URL, which has no port."""
        host, slash, path = url.removeprefix("http://").partition("/")
        self.answers[host, slash + path] = answer

    @property
    def urls(self) -> set[str]:
        """All that the hosts have an answer for."""
        return {f"http://{host}{path}" for host, path in self.answers}

    @property
    def page_urls(self) -> set[str]:
        """Those that answer 2xx."""
        return {f"http://{host}{path}" for (host, path), answer in self.answers.items() if 200 <= answer.status < 300}


def make_page(url: str, links: Sequence[str] = (), *, padding_bytes: int = 0, head: str = "") -> Answer:
    """A page with structured data that names its own URL, so that an archive can be held against the site."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    data = f'{{"@context": "https://schema.org", "@id": "{url}#it", "@type": "Thing", "name": "the thing of {url}"}}'
    script = f'<script type="application/ld+json">{data}</script>'
    padding = "word " * (padding_bytes // 5)
    return Answer(body=f"<!doctype html><title>{url}</title>{head}{script}<ul>{anchors}</ul><p>{padding}</p>".encode())


def make_site(hosts: Sequence[str], pages: int, *, seed: int = 0, delay_s: float = 0.0) -> Site:
    """So many pages over the hosts, evenly, each linked from an earlier one and with some links to anywhere.

    The first page is at `/` of the first host. Answers take up to `delay_s`, so that a crawl has requests in flight.
    """
    chance = random.Random(seed)
    urls = [f"http://{hosts[number % len(hosts)]}/{number // len(hosts) or ''}" for number in range(pages)]
    links: list[list[str]] = [[] for _ in urls]
    for number in range(1, pages):
        # Parents are near the start, so that the site is wide and every host has work early.
        links[chance.randrange(max(1, number // 4))].append(urls[number])
    for own in links:
        own += chance.sample(urls, min(3, pages))
    site = Site()
    for url, own in zip(urls, links, strict=True):
        page = make_page(url, own, padding_bytes=chance.randrange(4000))
        site.add(url, Answer(body=page.body, delay_s=chance.uniform(0, delay_s)))
    return site


def make_tree(hosts: Sequence[str], pages: int, shards: int, *, delay_s: float = 0.0) -> Site:
    """Pages that have one link each that leads to them, from a page of another shard, so that a lost link is a lost page."""
    domains = Domains(bundled_suffix_list(), shards)
    urls = [f"http://{hosts[number % len(hosts)]}/{number // len(hosts) or ''}" for number in range(pages)]
    owners = [domains.shard(hosts[number % len(hosts)]) for number in range(pages)]
    links: list[list[str]] = [[] for _ in urls]
    for number in range(1, pages):
        # The last page of another shard that is old enough, so that the tree is deep.
        earlier = range(number // 3, -1, -1)
        links[next((at for at in earlier if owners[at] != owners[number]), 0)].append(urls[number])
    site = Site()
    for url, own in zip(urls, links, strict=True):
        site.add(url, Answer(body=make_page(url, own).body, delay_s=delay_s))
    return site


def make_chain(host: str, length: int) -> Site:
    """Pages `/`, `/1`, `/2`, …, each with a link to the next alone."""
    urls = [f"http://{host}/{number or ''}" for number in range(length)]
    site = Site()
    for number, url in enumerate(urls):
        site.add(url, make_page(url, urls[number + 1 : number + 2]))
    return site


def share_addresses(hosts: Sequence[str], addresses: int) -> dict[str, str]:
    """An address of loopback for each host; so many, in turn, so that hosts of several shards share each."""
    return {host: f"127.0.0.{1 + number % addresses}" for number, host in enumerate(hosts)}


def prolong(answers: Answers, host: str, is_over: Callable[[], bool]) -> Answers:
    """Those answers, and `/more/0`, `/more/1`, … on a host, of which each leads to the next until something has come true.

    A crawl that has the first of them among its seeds is not over before, however slow the machine is.
    """

    def answer(asked: str, path: str, headers: Mapping[str, str]) -> Answer:
        start, _, number = path.rpartition("/")
        if (asked, start) != (host, "/more"):
            return answers(asked, path, headers)
        return make_page(f"http://{host}{path}", [] if is_over() else [f"/more/{int(number) + 1}"])

    return answer
