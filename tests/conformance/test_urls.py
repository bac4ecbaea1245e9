"""The web platform's tests of URL parsing, for links."""

import json
import re
from pathlib import Path

from rdfspider.urls import normalise_url, resolve_links


def unify_escapes(url: str) -> str:
    """The suite leaves escapes as they came; servers do not tell them apart (RFC 3986, 6.2.2), and so we do not either."""
    return re.sub("%[0-9A-Fa-f]{2}", unify_escape, url)


def unify_escape(escape: re.Match[str]) -> str:
    character = chr(int(escape[0][1:], 16))
    return character if re.fullmatch(r"[A-Za-z0-9\-._~]", character) else escape[0].upper()


def test_http_links_resolve_as_the_web_platform_says(suites: Path) -> None:
    cases = [case for case in json.loads((suites / "url/urltestdata.json").read_text()) if isinstance(case, dict)]
    wrong, judged = [], 0
    for case in cases:
        base = case["base"]
        if base is not None and normalise_url(base) is None:
            continue
        expected = None if case.get("failure") else unify_escapes(case["href"].partition("#")[0])
        if expected is not None and not expected.startswith(("http:", "https:")):
            expected = None
        found = resolve_links(base, [case["input"]])[case["input"]] if base else normalise_url(case["input"])
        judged += 1
        if found != expected:
            wrong.append((case["input"], base, expected, found))
    assert wrong == []
    assert judged > 500
