from rdfspider.extract.document import read_text
from rdfspider.extract.dom import parse_html

PROSE = "Loose-leaf tea steeps best just off the boil, which is why a kettle with a dial is worth its price. " * 4
NAVIGATION = "<nav><ul>" + "<li><a href=/x>Somewhere else</a></li>" * 20 + "</ul></nav>"


def test_a_single_article_is_the_main_text() -> None:
    text = read_text(parse_html(f"{NAVIGATION}<article><h1>Tea</h1><p>{PROSE}</p></article><footer>Imprint</footer>"))
    assert text.startswith("Tea")
    assert PROSE.strip() in text
    assert "Somewhere else" not in text
    assert "Imprint" not in text


def test_main_text_is_found_without_one() -> None:
    text = read_text(parse_html(f"{NAVIGATION}<div><h1>Tea</h1><p>{PROSE}</p><p>{PROSE}</p></div>"))
    assert PROSE.strip() in text
    assert "Somewhere else" not in text


def test_a_page_without_main_text_gives_all_its_words() -> None:
    assert "Somewhere else" in read_text(parse_html(NAVIGATION))
    assert read_text(parse_html("<p>Short</p><script>var x = 1</script><style>p{}</style>")) == "Short"
