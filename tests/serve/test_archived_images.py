"""Images that came with a WARC file: what is drawn is shown at once, and what could run never is."""

import base64
import json
import re
from collections.abc import Iterator

import pytest

from rdfspider import Crawl
from rdfspider.archive.warc import make_id, make_record
from rdfspider.cli import run_command
from rdfspider.serve.archived_images import find_image_type
from serving import Serving, serve

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
HOME = "http://tea.test/"
IMAGES = {
    "pot.png": (PNG, "image/png"),
    "plain.png": (PNG, "text/html"),
    "drawing.svg": (SVG, "image/svg+xml"),
    "lie.png": (SVG, "image/png"),
    "page.png": (b"<script>alert(1)</script>", "image/png"),
    "kept-out.png": (PNG, "image/png\r\nX-Robots-Tag: noarchive"),
}


def make_home() -> bytes:
    names = [*IMAGES, "elsewhere.png"]
    things = [
        {"@id": f"#{name}", "@type": "Product", "name": f"Pot {name}", "image": f"{HOME}{name}"} for name in names
    ]
    data = json.dumps({"@context": "https://schema.org", "@graph": things})
    return f'<!doctype html><script type="application/ld+json">{data}</script>'.encode()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("images")
    with (folder / "a.warc.gz").open("wb") as file:
        for name, (body, kind) in {"": (make_home(), "text/html"), **IMAGES}.items():
            fields = [
                ("WARC-Record-ID", make_id()),
                ("WARC-Date", "2024-05-01T10:00:00Z"),
                ("WARC-Target-URI", f"{HOME}{name}"),
                ("Content-Type", "application/http; msgtype=response"),
            ]
            file.write(
                make_record("response", fields, f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n".encode() + body)
            )
    assert not run_command(["import", str(folder / "a.warc.gz"), "--dir", str(folder / "c"), "--archive", "all"])
    assert not run_command(["index", "--dir", str(folder / "c")])
    with serve(Crawl.open(folder / "c")) as serving:
        yield serving


def test_an_image_of_the_archive_is_served_as_what_it_is(site: Serving) -> None:
    for name in ("pot.png", "plain.png"):
        reply = site.get("/archived-image", url=f"{HOME}{name}")
        assert (reply.status, reply.body, reply.headers["content-type"]) == (200, PNG, "image/png")
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["content-security-policy"] == "sandbox; default-src 'none'"


@pytest.mark.parametrize(
    "url",
    [*(f"{HOME}{name}" for name in ("drawing.svg", "lie.png", "page.png", "kept-out.png", "none.png")), HOME, "", "x"],
)
def test_nothing_else_is_served(site: Serving, url: str) -> None:
    reply = site.get("/archived-image", url=url)
    assert (reply.status, reply.headers["content-type"]) == (404, "text/plain; charset=utf-8")


def test_cards_and_entities_show_it_at_once_and_no_empty_box(site: Serving) -> None:
    shown = re.findall(r'<img class="thumb" src="([^"]+)"', site.get("/search", q="pot").text)
    assert sorted(shown) == [f"/archived-image?url={HOME}plain.png", f"/archived-image?url={HOME}pot.png"]
    entity = site.get("/entity", iri=f"{HOME}#pot.png").text
    assert entity.count(f'src="/archived-image?url={HOME}pot.png"') == 2
    assert "<img class" not in site.get("/entity", iri=f"{HOME}#lie.png").text


def test_what_is_forgotten_is_not_shown(site: Serving) -> None:
    site.site.crawl.forget(f"{HOME}plain.png")
    assert site.get("/archived-image", url=f"{HOME}plain.png").status == 404


@pytest.mark.parametrize(
    ("head", "media_type"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"),
        (b"\x00\x00\x00\x20ftypavif", "image/avif"),
        (b"RIFF\x00\x00\x00\x00WAVE", ""),
        (b"\x00\x00\x00\x20ftypmp42", ""),
        (b"GIF", ""),
        (b"", ""),
        (SVG, ""),
        (b"%PDF-1.7", ""),
    ],
)
def test_formats_are_known_by_their_first_bytes(head: bytes, media_type: str) -> None:
    assert find_image_type(head) == media_type
