"""Pages that say that they are not there, and pages that only speak of such."""

import pytest

from rdfspider import extract
from rdfspider.judge.soft404 import is_soft_404


def judge(title: str, body: str = "<p>Go to the front page", head: str = "") -> bool:
    return is_soft_404(extract(f"<!doctype html><title>{title}</title>{head}<body>{body}", "http://a.test/x"))


@pytest.mark.parametrize(
    "title",
    [
        "404 Not Found",
        "Page not found | Example",
        "Error 404 - Page not found",
        "Oops! That page can’t be found. – Example",
        "Seite nicht gefunden – Beispiel",
        "Page introuvable - Exemple",
        "Página no encontrada",
        "Página não encontrada | Exemplo",
        "Pagina non trovata",
        "Страница не найдена — Пример",
        "ページが見つかりません | 例",
        "页面未找到 - 例子",
        "페이지를 찾을 수 없습니다",
        "Sayfa bulunamadı",
        "Nie znaleziono strony",
        "الصفحة غير موجودة",
    ],
)
def test_titles_that_say_so(title: str) -> None:
    assert judge(title)


@pytest.mark.parametrize(
    "title",
    [
        "Peugeot 404 – Wikipedia",
        "404",
        "How to mend “page not found” on your site",
        "Lost and not found: a novel",
        "Area code 404",
        "Error handling in Python",
        "",
    ],
)
def test_titles_that_only_sound_so(title: str) -> None:
    assert not judge(title)


def test_a_status_in_the_title_counts_with_a_sentence_in_the_text() -> None:
    assert judge("404 | Example", "<h1>404</h1><p>The page you are looking for does not exist.</p>")
    assert not judge("404 | Example", "<h1>404</h1><p>The album of the year</p>")


def test_a_heading_counts_where_the_text_is_short() -> None:
    heading = "<h1>Sorry, this page could not be found.</h1>"
    assert judge("Example", heading + "<p>Try a search.</p>")
    assert not judge("Example", heading + "<p>" + "But here is a long story. " * 40)


def test_a_long_text_says_something_whatever_its_title() -> None:
    assert not judge("Page not found", "<p>" + "The history of the error page. " * 150)


def test_a_page_with_data_of_a_thing_is_there() -> None:
    script = (
        '<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "{}", "name": "x"}}</script>'
    )
    assert judge("Not Found", head=script.format("Organization"))
    assert not judge("Not Found", head=script.format("Movie"))
