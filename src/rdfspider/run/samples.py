"""Samples of what a page holds: an Extraction in, a few numbers out that tell whether other pages held the same.

Of all the literals that a page states, and of all its words, those with the smallest checksums are taken. So pages that repeat
each other in parts, in whatever order, have samples in common, and a page that has something of its own soon shows it. Subjects
and graphs do not count, as every page has those of its own; nor do words with digits, as calendars have other ones on every page.
"""

from collections.abc import Iterable
from zlib import crc32

from rdfspider.records import Extraction

# Numbers in a sample.
_SIZE = 8
# Characters that are looked at: of the statements of each syntax, and of the text at its start and in its middle.
_STATEMENT_CHARS = 8000
_TEXT_CHARS = 600
# What it says of the page itself: its address, its title. These differ where nothing else does.
_UNCOUNTED = "meta"


def sample_data(extraction: Extraction) -> tuple[int, ...]:
    """A sample of the literals that a page states, or of its statements where it has none."""
    parts = [nquads[:_STATEMENT_CHARS] for syntax, nquads in extraction.statements.items() if syntax != _UNCOUNTED]
    if not parts:
        return ()
    statements = "".join(parts).replace(f'"{extraction.url}"', "")
    # Between the quotes, but for those within literals.
    literals = statements.replace('\\"', "").split('"')[1::2]
    return _take_smallest(literals or statements.split("\n"))


def sample_words(extraction: Extraction) -> tuple[int, ...]:
    """A sample of the words of a page; those that are not of letters alone are passed over."""
    text = extraction.text
    middle = max(len(text) // 2, _TEXT_CHARS)
    words = f"{text[:_TEXT_CHARS]} {text[middle : middle + _TEXT_CHARS]}".split()
    return _take_smallest(filter(str.isalpha, words))


def _take_smallest(pieces: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(map(crc32, map(str.encode, set(pieces))))[:_SIZE])
