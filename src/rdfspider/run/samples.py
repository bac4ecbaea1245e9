"""Samples of what a page holds: an Extraction in, a few numbers out that tell whether other pages held the same.

Of all the literals that a page states, and of all its words, those with the smallest checksums are taken. So pages that repeat
each other in parts, in whatever order, have samples in common, and a page that has something of its own soon shows it. Subjects
and graphs do not count, as every page has those of its own; nor do words with digits, as calendars have other ones on every page.
"""

from collections.abc import Iterable
from typing import NamedTuple
from zlib import crc32

from rdfspider.records import Extraction

# Numbers in a sample.
_SIZE = 8
# Characters that are looked at: of the statements of each syntax at their start and their end, as what all pages of a site state
# may be in either; of the text at its start and in its middle.
_STATEMENT_CHARS = 2000
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
    parts = [_cut_statements(nquads) for syntax, nquads in extraction.statements.items() if syntax != _UNCOUNTED]
    statements = "".join(parts).replace(f'"{extraction.url}"', "")
    if not statements:
        return ()
    # Between the quotes, but for those within literals.
    literals = statements.replace('\\"', "").split('"')[1::2]
    return _take_smallest(literals or statements.split("\n"))


def _sample_words(extraction: Extraction) -> tuple[int, ...]:
    """A sample of the words of a page; those that are not of letters alone are passed over."""
    text = extraction.text
    words = text[:_TEXT_CHARS].split()
    if len(text) > _TEXT_CHARS:
        middle = max(len(text) // 2, _TEXT_CHARS)
        # Words may be cut at both ends of a part.
        words = words[:-1] + text[middle : middle + _TEXT_CHARS].split()[1:-1]
    return _take_smallest(filter(str.isalpha, words))


def _cut_statements(nquads: str) -> str:
    """The first and the last statements, whole, that count."""
    if len(nquads) > 2 * _STATEMENT_CHARS:
        first, last = nquads[:_STATEMENT_CHARS], nquads[-_STATEMENT_CHARS:]
        nquads = first[: first.rfind("\n") + 1] + last[last.find("\n") + 1 :]
    if _UNCOUNTED_TERMS not in nquads:
        return nquads
    return "".join(line for line in nquads.splitlines(keepends=True) if _UNCOUNTED_TERMS not in line)


def _take_smallest(pieces: Iterable[str]) -> tuple[int, ...]:
    return tuple(sorted(map(crc32, map(str.encode, set(pieces))))[:_SIZE])
