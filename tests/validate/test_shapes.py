"""SHACL shapes of the user's own, by pySHACL."""

import sys
from pathlib import Path

import pytest

from rdfspider.errors import UsageError
from rdfspider.pipeline import extract
from rdfspider.validate.findings import ERROR, WARNING
from rdfspider.validate.shapes import Shapes

SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix schema: <https://schema.org/> .
[] a sh:NodeShape ; sh:targetClass schema:Product ;
   sh:property [ sh:path schema:sku ; sh:minCount 1 ; sh:message "a product needs a sku" ] ;
   sh:property [ sh:path schema:name ; sh:maxLength 5 ; sh:severity sh:Warning ] .
"""
PAGE = '<p itemscope itemtype="http://schema.org/Product"><b itemprop=name>{}</b>{}</p>'


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Shapes:
    path = tmp_path_factory.mktemp("shapes") / "mine.ttl"
    path.write_text(SHAPES)
    return Shapes([str(path)])


def test_what_shapes_do_not_allow_whatever_the_spelling_of_the_namespace(shapes: Shapes) -> None:
    found = extract(PAGE.format("Green tea", ""), "https://a.example/")
    first, second = sorted(shapes.check(found.url, found.statements), key=lambda each: each.severity)
    assert (first.rule, first.severity, first.path, first.message) == (
        "shape",
        ERROR,
        "Product.sku",
        "a product needs a sku",
    )
    assert (second.severity, second.path, second.value) == (WARNING, "Product.name", "Green tea")


def test_what_shapes_allow(shapes: Shapes) -> None:
    found = extract(PAGE.format("Tea", "<b itemprop=sku>1</b>"), "https://a.example/")
    assert list(shapes.check(found.url, found.statements)) == []
    assert list(shapes.check("https://a.example/", {})) == []


def test_files_that_are_no_shapes(tmp_path: Path) -> None:
    (tmp_path / "bad.ttl").write_text("this is no Turtle")
    for name in ("bad.ttl", "missing.ttl"):
        with pytest.raises(UsageError, match=r"--shapes .*: (?:it cannot be read as RDF|there is no such file)"):
            Shapes([str(tmp_path / name)])


def test_without_pyshacl_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyshacl", None)
    with pytest.raises(UsageError, match=r"pip install 'rdfspider\[shacl\]'"):
        Shapes(["mine.ttl"])


HEAD = "@prefix sh: <http://www.w3.org/ns/shacl#> . [] a sh:NodeShape ; sh:targetClass <https://schema.org/Product> ; "


@pytest.mark.parametrize(
    "shape",
    [
        'sh:property [ sh:path <https://schema.org/image> ; sh:minCount "x" ] .',
        'sh:sparql [ sh:select "SELEC" ] .',
        "sh:property [ sh:minCount 1 ] .",
    ],
)
def test_shapes_that_cannot_be_used_are_refused_before_any_page(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], shape: str
) -> None:
    (tmp_path / "bad.ttl").write_text(HEAD + shape)
    with pytest.raises(UsageError, match="the SHACL shapes cannot be used") as raised:
        Shapes([str(tmp_path / "bad.ttl")])
    assert "\n" not in str(raised.value) and capfd.readouterr().err == ""
