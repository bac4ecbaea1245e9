"""The second parser: its trees are those of turbohtml, and it takes over where turbohtml is missing."""

import os
import subprocess
import sys

import pytest
import turbohtml

from rdfspider.extract import second_parser
from rdfspider.extract.second_parser.selectors import compile_selector

PAGES = {
    "namespaces": "<p xml:lang=en>a<svg viewbox=1 xlink:href=q xml:lang=de><g/><foreignObject><p>in</svg><math><mi>x</math>",
    "table": "<table><b>foster<tr><td>x<td>y</table><p>after<p>end",
    "formatting": "<a href=1>x<div><a href=2>y</div><b><i>z</b>w</i>",
    "comments": "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML+RDFa 1.0//EN' 'x'><!--a--><p>t&nbsp;&amp;<!--b--><script>a<b</script>",
    "no script": "<noscript><p itemprop=x>y</p></noscript><template><p>no</template><textarea><p></textarea>",
    "names": '<p a"b=1 :x=2 hidden class="a  b"><fb:like>y</fb:like><br><input value="<&quot;">',
    "empty": "",
    "deep": "<div>" * 2_000 + "x" + "<span>" * 50,
}
DOCUMENTS = {
    "prefixes": '<x:a xmlns:x="u" xmlns="v" x:y=" 1&#10;2 "><b/><![CDATA[z&]]>t&amp;<!--c--><?p q?></x:a>',
    "type": '<?xml version="1.0"?><!DOCTYPE a PUBLIC "p" "q"><a>é</a>',
}


def tree_of(document: object, walk: list[object]) -> list[object]:
    """The nodes of a tree in document order: their kinds, names, attributes and characters, and how deep they are."""
    todo = [(document, 0)]
    while todo:
        node, depth = todo.pop()
        attributes = {
            name: " ".join(value) if isinstance(value, list) else value or ""
            for name, value in dict(getattr(node, "attrs", {})).items()
            if name != "class"
        }
        kind, name = type(node).__name__, getattr(node, "tag", None) or getattr(node, "target", None)
        walk.append(
            (depth, kind, name, attributes, getattr(node, "data", None), getattr(node, "public_id", None) or None)
        )
        todo.extend((child, depth + 1) for child in reversed(node.children))  # type: ignore[attr-defined]
    return walk


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES.keys())
def test_trees_of_html_are_the_same(page: str) -> None:
    first, second = turbohtml.parse(page), second_parser.parse(page)
    if first.select("template"):
        first.remove("template")
    assert tree_of(second, []) == tree_of(first, [])
    assert second.root is not None and first.root is not None
    assert second.root.inner_html == first.root.inner_html
    assert [element.namespace.name for element in second.select("p, svg, g, math, mi")] == [
        element.namespace.name for element in first.select("p, svg, g, math, mi")
    ]
    assert second.text == first.text


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_trees_of_xml_are_the_same(document: str) -> None:
    first, second = turbohtml.parse_xml(document), second_parser.parse_xml(document)
    assert tree_of(second, []) == tree_of(first, [])
    assert second.root is not None and first.root is not None
    assert second.root.text == first.root.text


@pytest.mark.parametrize(
    "document",
    [
        "",
        "<a>",
        "<a><b></a>",
        "<x:a/>",
        '<a x:y="1"/>',
        "<a>&foo;</a>",
        "<a/><b/>",
        '<a b="1" b="2"/>',
        "<a>\x01</a>",
        "<a>\ud800<",
    ],
)
def test_both_refuse_what_is_no_xml(document: str) -> None:
    with pytest.raises(turbohtml.HTMLParseError):
        turbohtml.parse_xml(document)
    with pytest.raises(second_parser.HTMLParseError, match=r"line 1, column|column"):
        second_parser.parse_xml(document)


@pytest.mark.parametrize(
    "selector",
    [
        "a[rel][href], area[rel][href]",
        "head > title",
        "title:not(svg title)",
        '[rel]:is([rel*=":"],[rel~="license" i])',
        'meta[name="ROBOTS" i][content]',
        'a[href^="mailto:" i]',
        "[lang],[xml\\:lang]",
        ".include, [itemref]",
        'script[type*="ld+json" i]',
    ],
)
def test_selectors_choose_the_same(selector: str) -> None:
    page = (
        "<title>t</title><meta name=robots content=x><script type=application/LD+JSON></script><body lang=en>"
        "<svg><title>s</title></svg><a rel='x License' href=MAILTO:a>1</a><a rel=dc:x>2</a><area rel=x href=y>"
        "<p class='x include'>3<p xml:lang=de itemref=z>4"
    )
    first, second = turbohtml.parse(page).select(selector), second_parser.parse(page).select(selector)
    assert [(element.tag, element.text) for element in second] == [(element.tag, element.text) for element in first]
    assert first


def test_a_selector_that_is_not_known_is_an_error() -> None:
    for selector in ("a:hover", "a + b", "", "a,", "[x|=y]", "a)"):
        with pytest.raises(ValueError, match="not a selector"):
            compile_selector(selector)


def run_python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **variables},
        check=True,
    )


EXTRACT = """
import rdfspider
from rdfspider.html_parser import IS_SECOND_PARSER
found = rdfspider.extract(b"<html lang=fr><p vocab='http://schema.org/' typeof='Thing'><b property=name>\\xe9t\\xe9", "http://a.example/")
print(IS_SECOND_PARSER, found.charset, found.problems)
print(found.to_nquads())
"""


def test_where_turbohtml_is_missing_the_second_parser_reads_pages_and_it_is_said_once() -> None:
    usual = run_python(EXTRACT)
    missing = run_python("import logging, sys; logging.basicConfig(); sys.modules['turbohtml'] = None" + EXTRACT)
    wanted = run_python(EXTRACT, RDFSPIDER_PARSER="justhtml")
    assert usual.stdout.startswith("False windows-1252 ()") and '"été"@fr' in usual.stdout and usual.stderr == ""
    assert missing.stdout == wanted.stdout == usual.stdout.replace("False", "True")
    assert missing.stderr.count("pages are read by justhtml") == 1
    assert wanted.stderr == ""
