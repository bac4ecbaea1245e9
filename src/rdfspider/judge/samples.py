"""Bottom-k samples of what a page holds: an Extraction enters, a few numbers leave that tell whether other pages held the same.

Of all the literals that a page states, and of all its words, those with the smallest checksums are taken. So pages that share
parts, in whatever order, have samples in common, and a page that has something new soon shows it. Subjects and graphs do not
count, as every page has its own; nor do words with digits, as calendars have other ones on every page.
"""

from typing import NamedTuple
from zlib import crc32

from rdfspider.records import Extraction

# Numbers in a sample: an eighth of what there is, within these bounds. What is a page's own may be little beside what all pages
# of its site state, and a few numbers would miss it too often.
_MIN_SIZE, _MAX_SIZE = 8, 32
_SHARE = 8
# Characters that are looked at: the statements of a syntax as a whole, or so many parts of them, for nobody knows where a page
# says what is its own; of the text its start and its middle.
_STATEMENT_CHARS = 32_000
_PARTS = 16
_TEXT_CHARS = 400
# What they say of the page itself, its address and its title: these differ where nothing else does. A syntax of its own has some
# of it, the rest is RDFa in the vocabulary of OpenGraph.
_UNCOUNTED = "meta"
_UNCOUNTED_TERMS = "://ogp.me/ns"


class Sample(NamedTuple):
    """What a page holds; as in Judgement."""

    data: tuple[int, ...]
    words: tuple[int, ...]


def sample_page(extraction: Extraction) -> Sample:
    """A sample of what a page holds."""
    return Sample(_sample_data(extraction), _sample_words(extraction))


def sample_copy(extraction: Extraction, digest: str) -> Sample:
    """The same for a page with the bytes of another one: it holds what others with these bytes hold."""
    checksum = (crc32(digest.encode()),)
    return Sample(checksum if extraction.statements.keys() - {_UNCOUNTED} else (), checksum)


def _sample_data(extraction: Extraction) -> tuple[int, ...]:
    """A sample of the literals that a page states, or of its statements where it has none."""
    parts = [
        _cut_statements(nquads, extraction.url)
        for syntax, nquads in extraction.statements.items()
        if syntax != _UNCOUNTED
    ]
    statements = "".join(parts).replace(f'"{extraction.url}"', "")
    if not statements:
        return ()
    # Between the quotes, but for those within literals.
    literals = statements.replace('\\"', "").split('"')[1::2]
    return _take_smallest(set(literals or statements.split("\n")))


def _sample_words(extraction: Extraction) -> tuple[int, ...]:
    """A sample of the words of a page; those that are not of letters alone are passed over."""
    text = extraction.text
    words = text[:_TEXT_CHARS].split()
    if len(text) > _TEXT_CHARS:
        middle = max(len(text) // 2, _TEXT_CHARS)
        # Words may be cut at both ends of a part.
        words = words[:-1] + text[middle : middle + _TEXT_CHARS].split()[1:-1]
    return _take_smallest(set(filter(str.isalpha, words)))


def _cut_statements(nquads: str, url: str) -> str:
    """The statements of a page that count, or parts of them from everywhere where they are many."""
    if len(nquads) > _STATEMENT_CHARS:
        size, distance = _STATEMENT_CHARS // _PARTS, len(nquads) // _PARTS
        # What is in a gap on one page is in a part on another.
        shift = crc32(url.encode()) % distance
        ends = range(shift, len(nquads) + size, distance)
        parts = [nquads[max(end - size, 0) : end] for end in ends]
        # A statement that is longer than a part is not whole in any.
        nquads = "".join(part[part.find("\n") + 1 : part.rfind("\n") + 1] for part in parts) or nquads[:size]
    if _UNCOUNTED_TERMS not in nquads:
        return nquads
    return "".join(line for line in nquads.splitlines(keepends=True) if _UNCOUNTED_TERMS not in line)


def _take_smallest(pieces: set[str]) -> tuple[int, ...]:
    size = min(max(_MIN_SIZE, len(pieces) // _SHARE), _MAX_SIZE)
    return tuple(sorted(map(crc32, map(str.encode, pieces)))[:size])
