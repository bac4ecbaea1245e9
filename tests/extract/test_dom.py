"""Entities: replaced where they are declared inside, never read from outside, refused where they grow."""

import pytest

from rdfspider.extract.dom import encode_text, expand_entities


def test_internal_entities_are_replaced_and_the_subset_is_gone() -> None:
    text, problem = expand_entities('<!DOCTYPE r [<!ENTITY x "http://e/#">]><r a="&x;b">&x;</r>')
    assert text == '<!DOCTYPE r><r a="http://e/#b">http://e/#</r>'
    assert problem is None


def test_entities_in_entities_and_character_references() -> None:
    text, _ = expand_entities('<!DOCTYPE r [<!ENTITY a "x&b;"><!ENTITY b "&#233;">]><r>&a;</r>')
    assert text == "<!DOCTYPE r><r>xé</r>"


def test_the_first_declaration_counts() -> None:
    text, _ = expand_entities('<!DOCTYPE r [<!ENTITY a "1"><!ENTITY a "2">]><r>&a;</r>')
    assert text.endswith("<r>1</r>")


def test_quotes_in_a_value_do_not_end_the_attribute() -> None:
    text, _ = expand_entities("""<!DOCTYPE r [<!ENTITY a 'say "hi"'>]><r a="&a;"/>""")
    assert text.endswith('<r a="say &#34;hi&#34;"/>')


def test_references_in_comments_and_cdata_are_text() -> None:
    text, _ = expand_entities('<!DOCTYPE r [<!ENTITY a "1">]><r><!--&a;--><![CDATA[&a;]]>&a;</r>')
    assert text.endswith("<r><!--&a;--><![CDATA[&a;]]>1</r>")


def test_html_names_are_known_without_a_declaration() -> None:
    assert expand_entities("<r>&nbsp;&amp;&nonsense;</r>") == ("<r>&#160;&amp;&nonsense;</r>", None)


def test_what_looks_like_a_doctype_later_is_none() -> None:
    assert expand_entities('<r><!DOCTYPE r [<!ENTITY a "1">]>&a;</r>')[0].endswith("&a;</r>")


def test_external_entities_are_left_out() -> None:
    text, problem = expand_entities('<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><r>-&a;-</r>')
    assert text.endswith("<r>--</r>")
    assert problem is not None
    assert problem.code == "external-entity"


def test_external_and_parameter_entities_that_nobody_uses_are_no_problem() -> None:
    document = '<!DOCTYPE r [<!ENTITY % p PUBLIC "x" "http://e/x>y">%p;<!ENTITY a SYSTEM "b">]><r>&amp;</r>'
    assert expand_entities(document) == ("<!DOCTYPE r><r>&amp;</r>", None)


def billion_laughs() -> str:
    lines = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 30))
    return f'<!DOCTYPE r [<!ENTITY l0 "lol">{lines}]><r>&l29;</r>'


@pytest.mark.parametrize(
    "document",
    [
        billion_laughs(),
        '<!DOCTYPE r [<!ENTITY a "&b;"><!ENTITY b "&a;">]><r>&a;</r>',
        '<!DOCTYPE r [<!ENTITY a "' + "x" * 100_000 + '">]><r>' + "&a;" * 10_000 + "</r>",
        "<!DOCTYPE r ["
        + "".join(f'<!ENTITY a{n} "&a{n - 1};&a{n - 1};">' for n in range(20_000, 0, -1))
        + "]><r>&a9;</r>",
    ],
    ids=["exponential", "cycle", "quadratic", "chain"],
)
def test_bombs_are_refused(document: str) -> None:
    text, problem = expand_entities(document)
    assert text == "<!DOCTYPE r><r></r>"
    assert problem is not None
    assert problem.code == "entity-bomb"


@pytest.mark.parametrize(
    "start", ["<!DOCTYPE r [", "<!DOCTYPE r [<!ENTITY a '", "<!--", "<?x ", '<!DOCTYPE r PUBLIC "', "<r>&"]
)
def test_unfinished_documents_take_linear_time(start: str) -> None:
    text, problem = expand_entities(start * 200_000)
    assert isinstance(text, str)
    assert problem is None


def test_lone_surrogates_become_replacement_characters() -> None:
    assert encode_text("a\ud800b") == "a\ufffdb".encode()
