"""Bottom-k samples of a page's content: an Extraction enters, a few numbers leave that show whether other pages had the same.

The literals and the words with the smallest checksums are taken. So pages that share parts, in any order, have samples in common,
and new content soon shows up in the sample. Subjects and graphs do not count, since every page has its own; nor do words with
digits, since calendars have different ones on every page.
"""

from typing import NamedTuple
from zlib import crc32

from rdfspider.records import Extraction

# The size of a sample: an eighth of the distinct pieces, within these bounds. A page's own content may be small beside what all
# pages of its site share, and a smaller sample would miss it too often.
_MIN_SIZE, _MAX_SIZE = 8, 32
_SHARE = 8
# Characters that are read: all statements of a syntax up to this many, or else parts spread over them, since a page's own
# content can be anywhere; of the text, its start and its middle.
_STATEMENT_CHARS = 32_000
_PARTS = 16
_TEXT_CHARS = 400
# Statements about the page itself, such as its address and title, differ even where nothing else does, so they do not count:
# those of the syntax `meta`, and RDFa in the OpenGraph vocabulary.
_UNCOUNTED = "meta"
_UNCOUNTED_TERMS = "://ogp.me/ns"


class Sample(NamedTuple):
    """A sample of a page's content; the fields are those of Judgement."""

    data: tuple[int, ...]
    words: tuple[int, ...]


def sample_page(extraction: Extraction) -> Sample:
    """Sample the content of a page."""
    return Sample(_sample_data(extraction), _sample_words(extraction))


def sample_copy(extraction: Extraction, digest: str) -> Sample:
    """Sample an exact duplicate: its digest stands for its content, so that all copies have the same sample."""
    checksum = (crc32(digest.encode()),)
    return Sample(checksum if extraction.statements.keys() - {_UNCOUNTED} else (), checksum)


def _sample_data(extraction: Extraction) -> tuple[int, ...]:
    """Sample the literals of a page, or its statements if it has no literals."""
    parts = [
        _cut_statements(nquads, extraction.url)
        for syntax, nquads in extraction.statements.items()
        if syntax != _UNCOUNTED
    ]
    statements = "".join(parts).replace(f'"{extraction.url}"', "")
    if not statements:
        return ()
    # Literals are between unescaped quotation marks.
    literals = statements.replace('\\"', "").split('"')[1::2]
    return _take_smallest(set(literals or statements.split("\n")))


def _sample_words(extraction: Extraction) -> tuple[int, ...]:
    """Sample the words of a page that consist of letters only."""
    text = extraction.text
    words = text[:_TEXT_CHARS].split()
    if len(text) > _TEXT_CHARS:
        middle = max(len(text) // 2, _TEXT_CHARS)
        # The words at both ends of a part may be cut.
        words = words[:-1] + text[middle : middle + _TEXT_CHARS].split()[1:-1]
    return _take_smallest(set(filter(str.isalpha, words)))


def _cut_statements(nquads: str, url: str) -> str:
    """Return the statements that count; if there are many, parts spread over all of them."""
    if len(nquads) > _STATEMENT_CHARS:
        size, distance = _STATEMENT_CHARS // _PARTS, len(nquads) // _PARTS
        # The shift differs by page, so what falls into a gap on one page is read on another.
        shift = crc32(url.encode()) % distance
        ends = range(shift, len(nquads) + size, distance)
        parts = [nquads[max(end - size, 0) : end] for end in ends]
        # A statement longer than a part is whole in none.
        nquads = "".join(part[part.find("\n") + 1 : part.rfind("\n") + 1] for part in parts) or nquads[:size]
    if _UNCOUNTED_TERMS not in nquads:
        return nquads
    return "".join(line for line in nquads.splitlines(keepends=True) if _UNCOUNTED_TERMS not in line)


def _take_smallest(pieces: set[str]) -> tuple[int, ...]:
    size = min(max(_MIN_SIZE, len(pieces) // _SHARE), _MAX_SIZE)
    return tuple(sorted(map(crc32, map(str.encode, pieces)))[:size])
