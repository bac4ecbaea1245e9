"""Soft 404s: an Extraction enters; whether the page says that it does not exist, although its status is 200, leaves.

Only a page that says nothing else counts: its title or one of its first lines is a known sentence and little more, its text is
short, and its data describes nothing but the site itself. The sentences cover the languages of most of the web.
"""

import re

from rdfspider.records import Extraction
from rdfspider.vocabulary.terms import RDF_TYPE_TERM

# A longer text has content, whatever its title says; if the title does not say it, the text must be shorter still.
_MAX_CHARS = 2_500
_MAX_UNTITLED_CHARS = 600
_MAX_TITLE_CHARS = 200
_MAX_LINE_CHARS = 120
# Lines at the top of a text that may be its heading.
_FIRST_LINES = 3

_SENTENCES = """
not found|page not found|page cannot be found|page can't be found|page can’t be found|page could not be found
page couldn't be found|page couldn’t be found|page was not found|page doesn't exist|page doesn’t exist|page does not exist
page no longer exists|page is not available|page not available|page unavailable|page missing|file not found|document not found
content not found|resource not found|nothing found|nothing was found|url was not found|we can't find that page
we can’t find that page|we couldn't find that page|we couldn’t find that page|we could not find that page
we can't find the page you're looking for|we can’t find the page you’re looking for
page you requested could not be found|page you requested was not found|requested page was not found
page you are looking for could not be found|page you were looking for could not be found
page you are looking for does not exist|page you are looking for doesn't exist|page you are looking for doesn’t exist
page you were looking for doesn't exist|page you were looking for doesn’t exist|page you are looking for was not found
seite nicht gefunden|seite wurde nicht gefunden|seite konnte nicht gefunden werden|seite existiert nicht|nicht gefunden
diese seite existiert nicht|seite nicht verfügbar|seite nicht vorhanden|die angeforderte seite wurde nicht gefunden
page introuvable|page non trouvée|page inexistante|page n'existe pas|page n’existe pas|cette page n'existe pas
cette page n’existe pas|page n'a pas été trouvée|page n’a pas été trouvée|page demandée est introuvable|introuvable
página no encontrada|página no existe|no encontrado|no encontrada|no se ha encontrado la página|no se encontró la página
página no disponible|página solicitada no existe
página não encontrada|página não existe|não encontrado|não encontrada|página inexistente|conteúdo não encontrado
página não foi encontrada
pagina non trovata|pagina inesistente|pagina non esiste|non trovato|pagina non è stata trovata|pagina non disponibile
pagina niet gevonden|niet gevonden|pagina bestaat niet|pagina kon niet worden gevonden|pagina kan niet worden gevonden
nie znaleziono|nie znaleziono strony|strona nie została znaleziona|strona nie istnieje|strony nie znaleziono
страница не найдена|страница не существует|не найдено|ничего не найдено|такой страницы нет|такой страницы не существует
документ не найден|сторінку не знайдено|сторінка не знайдена
sayfa bulunamadı|bulunamadı|aradığınız sayfa bulunamadı
ページが見つかりません|ページが見つかりませんでした|お探しのページは見つかりませんでした|お探しのページが見つかりません|ページは存在しません
指定されたページは存在しません
未找到|页面未找到|页面不存在|找不到页面|找不到该页面|未找到页面|您访问的页面不存在|網頁不存在|找不到網頁|頁面不存在|找不到頁面
페이지를 찾을 수 없습니다|요청하신 페이지를 찾을 수 없습니다|존재하지 않는 페이지입니다
الصفحة غير موجودة|لم يتم العثور على الصفحة|صفحه پیدا نشد|صفحه یافت نشد|صفحه مورد نظر یافت نشد
không tìm thấy trang|trang không tồn tại|halaman tidak ditemukan|stránka nenalezena|stránka nebyla nalezena|sidan hittades inte
sidan kunde inte hittas|siden blev ikke fundet|siden ble ikke funnet|sivua ei löytynyt
"""
_NOT_FOUND = frozenset(_SENTENCES.strip().replace("\n", "|").split("|"))
# Words and characters that surround such a sentence.
_NOISE = re.compile(
    r"\b(?:http|status|code|error|erreur|errore|erro|fehler|fout|ошибка|błąd|hata|lỗi|oops+|ooops|uh-oh|whoops|sorry|sorry,? but"
    r"|désolé|the|this|that|die|la|le|esta|essa|questa|эта|данная|404)\b|エラー|错误|錯誤|오류|[^\w\s'’]",
)
_PARTS = re.compile(r"\s+[|\-–—·•:»«/<>]+\s+|[|·•»«]|:\s")
_MAY_SAY_NOT_FOUND = re.compile(r"\b404\b|" + "|".join(sorted({re.escape(words) for words in _NOT_FOUND})))
# Classes that sites use on every page to describe themselves.
_SITE_TYPES = frozenset(
    """Organization Corporation NewsMediaOrganization LocalBusiness WebSite WebPage SearchAction ReadAction EntryPoint ImageObject
    PropertyValueSpecification BreadcrumbList ListItem SiteNavigationElement WPHeader WPFooter WPSideBar PostalAddress
    ContactPoint Document""".split()
)


def is_soft_404(extraction: Extraction) -> bool:
    """Whether a page says that it does not exist, and nothing else."""
    text = extraction.text
    if len(text) > _MAX_CHARS:
        return False
    title = (extraction.title or "")[:_MAX_TITLE_CHARS].lower()
    if _MAY_SAY_NOT_FOUND.search(title) is not None:
        is_said = _says_not_found(title) or (_names_status(title) and _begins_not_found(text))
    else:
        is_said = len(text) <= _MAX_UNTITLED_CHARS and _begins_not_found(text)
    return is_said and not describes_entity(extraction)


def describes_entity(extraction: Extraction) -> bool:
    """Whether the data of a page describes anything but the site and the page itself."""
    for nquads in extraction.statements.values():
        # All pieces but the first begin with a class.
        for rest in nquads.split(f" {RDF_TYPE_TERM} <")[1:]:
            if re.split("[/#]", rest.partition(">")[0])[-1] not in _SITE_TYPES:
                return True
    return False


def _says_not_found(line: str) -> bool:
    """Whether a line, or a part of it, is exactly one of the sentences."""
    return any(_strip(part) in _NOT_FOUND for part in (line, *_PARTS.split(line)))


def _begins_not_found(text: str) -> bool:
    lines = [line.strip() for line in text[:_MAX_UNTITLED_CHARS].lower().split("\n")]
    return any(
        _says_not_found(line)
        for line in [line for line in lines if line][:_FIRST_LINES]
        if len(line) <= _MAX_LINE_CHARS
    )


def _names_status(title: str) -> bool:
    """Whether a title, or a part of it, is just the status."""
    return any("404" in part and not _strip(part) for part in (title, *_PARTS.split(title)))


def _strip(part: str) -> str:
    return " ".join(_NOISE.sub(" ", part).split())
