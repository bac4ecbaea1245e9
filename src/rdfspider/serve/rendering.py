"""Text from the web enters, safe HTML leaves: templates that escape everything, and the formats of terms, times and numbers.

Names are wrapped in `<bdi>`, so that changes of text direction end with them, and cut if they are long.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rdfspider import __version__
from rdfspider.results import MAX_TYPES, Marked
from rdfspider.vocabulary.class_kinds import is_layout
from rdfspider.vocabulary.labels import is_visible
from rdfspider.vocabulary.names import (
    find_local_name,
    find_readable_name,
    is_for_programs,
    list_prefixes,
    shorten_iri,
    split_iri,
)
from rdfspider.vocabulary.readable_values import write_iso_date
from rdfspider.vocabulary.terms import fold_iri

STATIC = Path(__file__).parent / "static"
TEMPLATES = Path(__file__).parent / "templates"
MAX_LABEL_CHARS = 200
MAX_TEXT_CHARS = 2000
# Invisible characters and those that change the text direction.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
# The boundaries between the parts of an IRI, and between the words of a name such as datePublished.
_SEAM = re.compile(r"(?<=[:/#.])(?=[^:/#.])|(?<=[a-z])(?=[A-Z])")


def make_templates() -> Environment:
    """The templates of the site, with their filters and functions."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters.update(
        label=write_label, text=write_text, number=write_number, bytes=write_bytes, day=write_day, moment=write_moment,
        ago=write_ago, short=write_short, duration=write_duration, marked=write_marked,
        sentence=write_sentence, typed=write_types, named=write_properties, term=write_term,
        date=write_people_date, telling=choose_types,
    )  # fmt: skip
    templates.tests["visible"] = is_visible
    templates.globals.update(
        address=make_address, static=locate_static, outward=draw_outward, version=__version__, most_types=MAX_TYPES,
        entity_address=lambda iri: make_address("/entity", iri=iri),
        page_address=lambda url: make_address("/page", url=url),
    )  # fmt: skip
    return templates


def clean_text(text: str) -> str:
    """Remove invisible characters and those that change the text direction."""
    return _UNSEEN.sub("", text)


def write_label(text: object, most_chars: int = MAX_LABEL_CHARS) -> Markup:
    """A name from the web: on one line, isolated and cut; if cut, the full name is its title."""
    clean = " ".join(_UNSEEN.sub("", str(text)[: 10 * MAX_TEXT_CHARS]).split())
    if text and not is_visible(clean[:most_chars]):
        # Otherwise a link with this name would be invisible, also to screen readers.
        clean = "(nothing to be seen)"
    if len(clean) <= most_chars:
        return Markup(f"<bdi>{escape(clean)}</bdi>")
    return Markup(f'<bdi title="{escape(clean[:MAX_TEXT_CHARS])}">{escape(clean[:most_chars])}…</bdi>')


def write_text(text: object, most_chars: int = MAX_TEXT_CHARS) -> Markup:
    """Text from the web, isolated and cut; several empty lines become one, as markup leaves hundreds of them."""
    lines = _UNSEEN.sub("", str(text)[: 10 * most_chars]).strip().split("\n")
    kept = (line for before, line in zip(["", *lines], lines, strict=False) if line.strip() or before.strip())
    clean = "\n".join(kept)
    return Markup("<bdi>{}</bdi>").format(clean if len(clean) <= most_chars else f"{clean[:most_chars]}…")


def cut_middle(text: str, most_chars: int) -> str:
    """Shorten a text by its middle: IRIs of one namespace differ only at the end."""
    if len(text) <= most_chars:
        return text
    return f"{text[: most_chars // 2]}…{text[-(most_chars // 2) :]}"


def write_sentence(text: str) -> Markup:
    """An error message as a sentence: messages for terminals start in lower case and have no full stop."""
    return write_text(f"{text[:1].upper()}{text[1:]}{'.' if text[-1:].isalnum() else ''}")


def write_marked(marked: Marked, most_chars: int = MAX_TEXT_CHARS) -> Markup:
    """Text from the web with the search terms marked, isolated and cut."""
    shown, left = [], most_chars
    for part, is_marked in marked.split():
        clean = escape(_UNSEEN.sub("", part[:left]))
        shown.append(f"<mark>{clean}</mark>" if is_marked else clean)
        left -= len(part)
        if left <= 0:
            break
    return Markup(f"<bdi>{''.join(shown)}{'…' if len(marked.text) > most_chars else ''}</bdi>")


def write_short(iri: object) -> Markup:
    """An IRI as a prefixed name such as schema:Person, with the full IRI as its title."""
    return _draw_short(str(iri)[:MAX_TEXT_CHARS])


def write_term(iri: str) -> Markup:
    """A term of a well-known vocabulary by its name, such as InStock; any other IRI as it is."""
    iri = iri[:MAX_TEXT_CHARS]
    return _draw_short(iri) if shorten_iri(iri) == iri else _draw_name(find_local_name(iri), (iri,))


def choose_types(iris: Sequence[str]) -> Sequence[str]:
    """The classes of a page without those that hold it together; these only where there is nothing else."""
    return [iri for iri in iris if not is_layout(fold_iri(iri))] or iris[:1]


def write_types(iris: Sequence[str]) -> list[tuple[str, Markup]]:
    """Classes with their names for people: Recipe, with schema:Recipe and the IRI as its title. Classes of different
    vocabularies with the same name, as Person is one of schema.org and of FOAF, are one, and its title has them all."""
    same: dict[str, list[str]] = {}
    for iri in iris:
        same.setdefault(find_local_name(iri).lower(), []).append(iri[:MAX_TEXT_CHARS])
    return [(group[0], _draw_name(find_local_name(group[0]), tuple(group))) for group in same.values()]


def write_properties(iris: Iterable[str], *, is_card: bool = False) -> dict[str, Markup]:
    """Properties with their names for people: date published, with schema:datePublished and the IRI as its title. The prefix
    follows where several have the same name, and except on cards names that are for one program, such as og:type."""
    names = {iri: find_readable_name(iri) for iri in iris}
    uses = Counter(names.values())
    drawn: dict[str, Markup] = {}
    for iri, name in names.items():
        is_prefixed = uses[name] > 1 or (not is_card and is_for_programs(iri))
        prefix = next(iter(list_prefixes(split_iri(iri)[0])), "") if is_prefixed else ""
        follows = Markup(" <small>{}</small>").format(prefix) if prefix else Markup("")
        drawn[iri] = _draw_name(name, (iri[:MAX_TEXT_CHARS],)) + follows
    return drawn


@lru_cache(maxsize=4096)
def _draw_name(name: str, iris: tuple[str, ...]) -> Markup:
    """A name, with the IRIs that it stands for as its title."""
    shortened = ((shorten_iri(iri), iri) for iri in iris)
    title = clean_text(", ".join(iri if short == iri else f"{short} · {iri}" for short, iri in shortened))
    parts = Markup("<wbr>").join(_SEAM.split(cut_middle(clean_text(name), 80) or title))
    return Markup(f'<bdi title="{escape(title)}">{parts}</bdi>')


@lru_cache(maxsize=4096)
def _draw_short(iri: str) -> Markup:
    """Cached, because the same classes and properties are on every page."""
    shown = cut_middle(clean_text(shorten_iri(iri)), 80)
    # Allow line breaks at these boundaries rather than within a word.
    parts = Markup("<wbr>").join(_SEAM.split(shown))
    return Markup(f'<bdi title="{escape(clean_text(iri))}">{parts}</bdi>')


def write_number(number: float) -> str:
    """Write 1234567 as 1,234,567; fractions with one digit."""
    return f"{number:,.1f}" if isinstance(number, float) and number % 1 and number < 1000 else f"{round(number):,}"


def write_bytes(number: float) -> str:
    """Write a size in a suitable unit."""
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 100 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:,.1f} TB"


def write_day(time_s: float) -> Markup:
    """Write seconds since 1970 as a date; nothing for 0."""
    return _write_time(time_s, "%Y-%m-%d")


def write_people_date(text: str) -> Markup:
    """Write 2024-05-01 as 1 May 2024; other text as it is."""
    shown = write_iso_date(text, "date")
    return Markup('<time datetime="{}">{}</time>').format(text, shown) if shown else escape(text)


def write_moment(time_s: float) -> Markup:
    """Write seconds since 1970 as a date and time in UTC; nothing for 0."""
    return _write_time(time_s, "%Y-%m-%d %H:%M:%S")


def write_duration(seconds: float) -> str:
    """Write a duration in a suitable unit."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def write_ago(time_s: float) -> str:
    """Write how long ago a time was."""
    return f"{write_duration(max(0.0, datetime.now(UTC).timestamp() - time_s))} ago" if time_s else "never"


def make_address(path: str, /, **parameters: object) -> str:
    """A path of this site with a query string; empty values are left out, and sequences repeat the parameter."""
    pairs = [
        (name, str(value).encode("utf-8", "replace"))
        for name, given in parameters.items()
        for value in (given if isinstance(given, (list, tuple)) else (given,))
        if value not in (None, "", False)
    ]
    return f"{path}?{urlencode(pairs, quote_via=quote, safe=':/,')}" if pairs else path


def draw_outward(url: str, text: object = "") -> Markup:
    """A link that leaves the site if the URL is http or https, otherwise text: no other scheme may be clickable."""
    shown = write_label(text or url, 100)
    if url.startswith(("http://", "https://")):
        return Markup('<a class="outward" href="{}" rel="noopener noreferrer nofollow">{}</a>').format(url, shown)
    return shown


@cache
def locate_static(name: str) -> str:
    """The URL of a file in `serve/static`; it changes with the file's content, so browsers can cache it."""
    path = STATIC / name
    if not path.is_file():
        return ""
    return f"/static/{escape(name)}?{hashlib.sha256(path.read_bytes()).hexdigest()[:12]}"


def _write_time(time_s: float, form: str) -> Markup:
    try:
        moment = datetime.fromtimestamp(time_s, UTC) if time_s else None
    except (ValueError, OverflowError, OSError):
        moment = None
    if moment is None:
        return Markup("")
    return Markup('<time datetime="{}">{}</time>').format(moment.isoformat(), moment.strftime(form))
