"""The child as a process of its own: jobs in, answers out, and nothing of the machine in reach of a stylesheet."""

import subprocess
import sys
from pathlib import Path

import pytest

from rdfspider.extract import untrusted_process
from rdfspider.extract.untrusted_process import Header, pack_message, unpack_message
from rdfspider.processes.child import make_command
from rdfspider.processes.framing import LENGTH, READY

XSLT = (
    '<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"'
    ' xmlns:exsl="http://exslt.org/common" extension-element-prefixes="exsl">{}</xsl:stylesheet>'
)
COPY = XSLT.format('<xsl:template match="/"><out><xsl:copy-of select="."/></out></xsl:template>')
SECRET = "the secret of the file"


def ask(*jobs: tuple[Header, tuple[bytes, ...]]) -> list[tuple[Header, list[bytes]]]:
    """The answers of one helper process to these jobs, after it has said that it is ready."""
    limits = {
        "seconds": 5,
        "memory_bytes": 2**30,
        "output_bytes": 10_000,
        "url": "http://example.org/",
        "lenient": False,
    }
    messages = [pack_message({**limits, **job}, *parts) for job, parts in jobs]
    done = subprocess.run(
        make_command(untrusted_process.__name__),
        input=b"".join(LENGTH.pack(len(message)) + message for message in messages),
        capture_output=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    rest, answers = done.stdout, []
    while rest:
        end = LENGTH.size + LENGTH.unpack_from(rest)[0]
        answers.append(rest[LENGTH.size : end])
        rest = rest[end:]
    assert answers[0] == READY
    return [unpack_message(answer) for answer in answers[1:]]


def apply(stylesheet: str, xml: str = "<a/>", **options: object) -> tuple[Header, str]:
    job = ({"kind": "stylesheet", **options}, (stylesheet.encode(), xml.encode()))
    [(header, parts)] = ask(job)
    return header, parts[0].decode() if parts else ""


def test_a_message_survives_the_journey() -> None:
    message = pack_message({"kind": "stylesheet", "url": "é\ud800"}, b"", b"\0\xff")
    assert unpack_message(message) == ({"kind": "stylesheet", "url": "é\ud800"}, [b"", b"\0\xff"])


@pytest.mark.parametrize("message", [b"", b"\0" * 4, pack_message({})[:-1], b"\0\0\0\x02[]"])
def test_what_is_no_message_is_a_value_error(message: bytes) -> None:
    with pytest.raises(ValueError):
        unpack_message(message)


def test_a_stylesheet_is_applied_and_gets_the_url() -> None:
    stylesheet = XSLT.format(
        '<xsl:param name="url"/><xsl:template match="/"><x u="{$url}"><xsl:value-of select="/a/b"/></x></xsl:template>'
    )
    header, result = apply(stylesheet, "<a><b>é</b></a>")
    assert header == {"code": "", "media_type": "application/rdf+xml"}
    assert result.strip() == '<x u="http://example.org/">é</x>'


def test_one_process_answers_many_jobs_and_survives_failures() -> None:
    good = ({"kind": "stylesheet"}, (COPY.encode(), b"<a/>"))
    bad = ({"kind": "stylesheet"}, (b"<not-xslt/>", b"<a/>"))
    codes = [header["code"] for header, _ in ask(good, bad, good)]
    assert codes == ["", "transform-failed", ""]


@pytest.mark.parametrize(
    ("output", "media_type"),
    [
        ("", "application/rdf+xml"),
        ('<xsl:output method="text"/>', "text/turtle"),
        ('<xsl:output method="text" media-type="application/n-triples"/>', "application/n-triples"),
        ('<xsl:output method="xml" encoding="utf-16"/>', "application/rdf+xml"),
    ],
)
def test_the_output_element_names_the_media_type(output: str, media_type: str) -> None:
    header, result = apply(XSLT.format(output + '<xsl:template match="/"><x>é</x></xsl:template>'))
    assert header["media_type"] == media_type
    assert "é" in result
    assert "<?xml" not in result


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that is also a stylesheet, so that whoever can read or include it, shows it."""
    path = tmp_path / "secret.xsl"
    path.write_text(XSLT.format(f'<xsl:template match="/"><x>{SECRET}</x></xsl:template>'))
    return path


@pytest.mark.parametrize(
    "body",
    [
        '<xsl:template match="/"><x><xsl:copy-of select="document(\'{uri}\')"/></x></xsl:template>',
        '<xsl:template match="/"><x><xsl:copy-of select="document(\'{path}\')"/></x></xsl:template>',
        '<xsl:include href="{uri}"/>',
        '<xsl:include href="{path}"/>',
        '<xsl:import href="{uri}"/>',
        '<xsl:import href="{path}"/>',
    ],
)
def test_a_stylesheet_cannot_read_files(secret: Path, body: str) -> None:
    header, result = apply(XSLT.format(body.format(uri=secret.as_uri(), path=secret)))
    assert header["code"] == "transform-failed"
    assert SECRET not in result + header["message"]


def test_a_stylesheet_cannot_reach_the_network() -> None:
    header, _ = apply(
        XSLT.format('<xsl:template match="/"><xsl:copy-of select="document(\'http://127.0.0.1:9/\')"/></xsl:template>')
    )
    assert header["code"] == "transform-failed"
    assert "denied" in header["message"]


def test_a_stylesheet_cannot_write_files(tmp_path: Path) -> None:
    target = tmp_path / "written.xml"
    stylesheet = '<xsl:template match="/"><exsl:document href="{}"><x/></exsl:document></xsl:template>'
    header, _ = apply(XSLT.format(stylesheet.format(target)))
    assert header["code"] == "transform-failed"
    assert "write rights" in header["message"]
    assert not target.exists()


@pytest.mark.parametrize("declared", ['<!ENTITY e SYSTEM "{}">', '<!ENTITY % p SYSTEM "{}"> %p; <!ENTITY e "x">'])
def test_external_entities_are_not_read(secret: Path, declared: str) -> None:
    doctype = f"<!DOCTYPE a [{declared.format(secret.as_uri())}]>"
    _, in_source = apply(COPY, f"{doctype}<a>&e;</a>")
    stylesheet = XSLT.format('<xsl:template match="/"><x>&e;</x></xsl:template>')
    header, in_stylesheet = apply(doctype + stylesheet)
    assert header["code"] == "transform-failed"
    assert SECRET not in in_source + in_stylesheet


def test_internal_entities_of_a_stylesheet_are_known() -> None:
    stylesheet = '<!DOCTYPE x [<!ENTITY ns "http://example.org/">]>' + XSLT.format(
        '<xsl:template match="/"><x>&ns;</x></xsl:template>'
    )
    assert apply(stylesheet)[1].strip() == "<x>http://example.org/</x>"


def test_entity_bombs_are_refused() -> None:
    entities = '<!ENTITY e0 "aaaaaaaaaa">' + "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    stylesheet = f"<!DOCTYPE x [{entities}]>" + XSLT.format('<xsl:template match="/"><x>&e11;</x></xsl:template>')
    assert apply(stylesheet)[0]["code"] == "transform-failed"
    assert "aaaa" not in apply(COPY, f"<!DOCTYPE a [{entities}]><a>&e11;</a>")[1].partition("<a>")[2]


def test_recursion_and_depth_are_bounded() -> None:
    endless = XSLT.format(
        '<xsl:template match="/" name="again"><xsl:call-template name="again"/></xsl:template>',
    )
    header, _ = apply(endless)
    assert header["code"] == "transform-failed"
    assert "recursion" in header["message"]
    header, _ = apply(COPY, "<a>" * 100_000 + "</a>" * 100_000)
    assert header["code"] == "transform-failed"
    assert "depth" in header["message"]


def test_what_a_function_prints_or_reads_does_not_disturb(tmp_path: Path) -> None:
    (tmp_path / "noisy.py").write_text(
        "import os, sys\n"
        "def read(body, url, media_type):\n"
        "    print('noise', flush=True); os.write(1, b'noise')\n"
        "    return f'{sys.stdin.read()}{body.decode()} {url} {media_type}'\n"
    )
    job = {"kind": "function", "function": "noisy:read", "path": [str(tmp_path), *sys.path], "media_type": "a/b"}
    [(header, parts)] = ask((job, (b"x",)))
    assert (header["code"], parts) == ("", [b"x http://example.org/ a/b"])
