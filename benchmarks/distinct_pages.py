"""Makes many distinct pages of a folder of real ones: the same markup, other words, identifiers and values, by a seed.

    python benchmarks/distinct_pages.py CORPUS FOLDER [--pages N] [--seed N]

A real page becomes the pages of one or more sites. The words of its title and its prose are replaced by others of pages in the
same language and script, wherever they occur: in text, in `meta` elements and in JSON-LD, so that a headline is still the
title. Prices, counts and identifiers have other digits, and the page's own URL and site are those under which it will be
served. What is said of the site itself (its organisation, its search box) stays the same on all of its pages, as it does on
real ones. FOLDER gets the form of CORPUS, for `web.py`; page N belongs to host N // 20.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple
from unicodedata import name
from urllib.parse import urlsplit
from zlib import crc32

PAGES_PER_HOST = 20
_START, _END = "\ue000", "\ue001"
"""Private characters around what varies."""
_OWN, _SITE = f"{_START}own{_END}", f"{_START}site{_END}"
_PIECE = re.compile(
    r"<script\b.*?</script\s*>|<style\b.*?</style\s*>|<!--.*?-->|<[^>]*>|[^<]+", re.DOTALL | re.IGNORECASE
)
_LD = re.compile(r"(<script\b[^>]*ld\+json[^>]*>)(.*)(</script\s*>)", re.DOTALL | re.IGNORECASE)
_CONTENT = re.compile(r"""(\bcontent\s*=\s*)(?:"([^"]*)"|'([^']*)')""", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{4,}")
_LANGUAGE = re.compile(r"<html\b[^>]*\blang\s*=\s*[\"']?([A-Za-z]+)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_PROSE_CHARS = 60
_OF_SITE = ("Organization", "WebSite", "NewsMediaOrganization", "Corporation", "BreadcrumbList", "SearchAction")
_NAMES = ("name", "headline", "description", "text", "articleBody", "reviewBody", "alternativeHeadline", "keywords")
_NUMBERS = re.compile("price|sku|gtin|mpn|productid|identifier|count|calories", re.IGNORECASE)
Vocabulary = dict[tuple[str, str], list[str]]
"""Words by language and script: some pages have text in another language than they say."""


class Page(NamedTuple):
    """A real page, cut where it varies."""

    fixed: list[str]
    varied: list[str]
    """What stands between the fixed pieces."""
    language: str
    is_utf8: bool


def write_pages(corpus: Path, folder: Path, pages: int, seed: int) -> None:
    """Write a corpus of so many distinct pages; each host has those of one real page."""
    entries = [json.loads(line) for line in (corpus / "index.jsonl").read_text().splitlines()]
    (folder / "pages").mkdir(parents=True)
    hosts = -(-pages // PAGES_PER_HOST)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pools: dict[tuple[str, str], set[str]] = {}
        for language, words in pool.imap_unordered(partial(_list_words, corpus), entries, 8):
            for word in words:
                pools.setdefault((language, _find_script(word)), set()).add(word)
        vocabulary = {key: sorted(words) for key, words in pools.items()}
        write = partial(_write_hosts, corpus, folder, vocabulary, pages, seed)
        chosen = [(entry, range(at, hosts, len(entries))) for at, entry in enumerate(entries) if at < hosts]
        for _ in pool.imap_unordered(write, chosen, 4):
            pass
    with (folder / "index.jsonl").open("w") as index:
        for number in range(pages):
            print(json.dumps({"file": f"pages/{number}.html.gz", "url": None}), file=index)


def _read(corpus: Path, entry: dict[str, Any]) -> tuple[str, bool]:
    body = gzip.decompress((corpus / entry["file"]).read_bytes())
    try:
        return body.decode(), True
    except UnicodeDecodeError:
        return body.decode("latin-1"), False


def _find_language(html: str) -> str:
    found = _LANGUAGE.search(html)
    return found[1][:2].lower() if found else ""


def _list_words(corpus: Path, entry: dict[str, Any]) -> tuple[str, set[str]]:
    """The words of a page's prose, by its language."""
    html, is_utf8 = _read(corpus, entry)
    return _find_language(html), _find_words(html) if is_utf8 else set()


def _find_script(word: str) -> str:
    """The script of a word, as the name of its first letter begins."""
    return "LATIN" if word.isascii() else name(word[0], "").partition(" ")[0]


def _find_words(html: str) -> set[str]:
    """The words of the title and of the prose."""
    words: set[str] = set()
    is_title = False
    for piece in _PIECE.findall(html):
        if piece[0] == "<":
            is_title = piece[:6].lower() == "<title"
        elif is_title or len(piece) > _PROSE_CHARS:
            words.update(_WORD.findall(piece))
    return words


def _write_hosts(
    corpus: Path,
    folder: Path,
    vocabulary: Vocabulary,
    pages: int,
    seed: int,
    chosen: tuple[dict[str, Any], range],
) -> None:
    entry, hosts = chosen
    page = _cut(*_read(corpus, entry), entry["url"] or "")
    for host in hosts:
        for number in range(host * PAGES_PER_HOST, min((host + 1) * PAGES_PER_HOST, pages)):
            body = _write(
                page, vocabulary, f"{seed} {number}", f"h{host}.test", f"http://h{host}.test/corpus/{number}.html"
            )
            (folder / f"pages/{number}.html.gz").write_bytes(gzip.compress(body, 1, mtime=0))


def _cut(html: str, is_utf8: bool, url: str) -> Page:
    """Cut a page into what stays and what varies."""
    words = {word for word in _find_words(html) if crc32(word.encode()) % 3}
    html = html.replace(_START, "").replace(_END, "")
    if url:
        # The longest form first: it contains the others.
        html = re.sub(re.escape(url) + r"(?=[\"'\s<?#])", _OWN, html)
        domain = (urlsplit(url).hostname or "").removeprefix("www.")
        links = rf"(?:https?:)?//(?:www\.)?{re.escape(domain)}(?=[/\"'\s<:?#])"
        html = re.sub(links, f"http://{_SITE}", html) if domain else html
    marked = "".join(_mark_piece(piece, words) for piece in _PIECE.findall(html))
    parts = re.split(f"{_START}([^{_END}]*){_END}", marked)
    return Page(parts[0::2], parts[1::2], _find_language(html), is_utf8)


def _mark_piece(piece: str, words: set[str]) -> str:
    if piece[0] != "<":
        return _mark_words(piece, words)
    if found := _LD.fullmatch(piece):
        try:
            data = json.loads(found[2])
        except ValueError:
            return piece
        text = json.dumps(_mark_data(data, words, ""), ensure_ascii=False).replace("</", "<\\/")
        return f"{found[1]}{text}{found[3]}"
    if piece[:5].lower() == "<meta":
        return _CONTENT.sub(lambda found: f'{found[1]}"{_mark_value(found[2] or found[3] or "", words)}"', piece)
    return piece


def _mark_value(text: str, words: set[str]) -> str:
    if re.fullmatch(r"[\d.,]+", text):
        return _NUMBER.sub(lambda found: f"{_START}{found[0]}{_END}", text)
    return text if _START in text else _mark_words(text, words)


def _mark_words(text: str, words: set[str]) -> str:
    return _WORD.sub(lambda found: f"{_START}{found[0]}{_END}" if found[0] in words else found[0], text)


def _mark_data(data: Any, words: set[str], key: str) -> Any:
    """Mark the values of JSON-LD, except what is said of the site."""
    if isinstance(data, list):
        return [_mark_data(each, words, key) for each in data]
    if isinstance(data, dict):
        of_site = data.get("@type") in _OF_SITE
        return data if of_site else {name: _mark_data(each, words, name) for name, each in data.items()}
    if isinstance(data, str) and key[:1] != "@" and _START not in data:
        if key in _NAMES or " " in data:
            return _mark_words(data, words)
        if _NUMBERS.search(key):
            return _NUMBER.sub(lambda found: f"{_START}{found[0]}{_END}", data)
    return data


def _write(page: Page, vocabulary: Vocabulary, seed: str, host: str, url: str) -> bytes:
    """Write one of the pages that a page stands for."""
    known: dict[str, str] = {"own": url, "site": host}
    pieces = [page.fixed[0]]
    for old, after in zip(page.varied, page.fixed[1:], strict=True):
        new = known.get(old)
        if new is None:
            new = known[old] = _replace(old, page.language, vocabulary, seed)
        pieces += (new, after)
    html = "".join(pieces)
    return html.encode("utf-8", "replace") if page.is_utf8 else html.encode("latin-1", "replace")


def _replace(old: str, language: str, vocabulary: Vocabulary, seed: str) -> str:
    number = crc32(f"{seed} {old}".encode())
    if old.isdecimal():
        digits = str(number).rjust(10, "7")
        return "".join(chr(ord("1") + int(digit) % 9) for digit in (digits * (len(old) // 10 + 1))[: len(old)])
    words = vocabulary.get((language, _find_script(old))) or [old]
    new = words[number % len(words)]
    return new.capitalize() if old[:1].isupper() else new.lower()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    if arguments.folder.exists():
        sys.exit(f"{arguments.folder} exists; name a new folder")
    write_pages(arguments.corpus, arguments.folder, arguments.pages, arguments.seed)


if __name__ == "__main__":
    main()
