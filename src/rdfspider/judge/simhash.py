"""Similarity of pages: a text enters, its 64-bit simhash (Charikar) leaves; statements enter, a digest leaves that is equal for
pages that state the same. The simhashes of texts that differ in few words differ in few bits.

Every word has a 64-bit hash; each bit of the simhash is the majority of that bit over all hashes, which lie side by side in one
long integer so that all are counted at once. Each distinct word counts once, or the most frequent words of a language would
decide; its position does not count, so a reordered list has the same simhash.
"""

from itertools import pairwise

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from rdfspider.records import Extraction

MIN_WORDS = 50
"""Shorter texts have no simhash: stubs and listings contain only the words of their templates."""

# How much of a long text is read.
_MAX_TEXT_CHARS = 100_000
_SAMPLE_BYTES = 4_000
# A power of two, because the counting halves it.
_MAX_WORDS = 512
# If words between spaces are longer than this on average, the script has no spaces between words.
_MAX_WORD_CHARS = 14
_HASH_BITS = 64
_HASH_MASK = (1 << _HASH_BITS) - 1


def compute_simhash(text: str) -> int:
    """Return the simhash of a text; 0 if it is too short for one."""
    words = _sample_words(text)
    if len(words) < MIN_WORDS:
        return 0
    different = list(dict.fromkeys(words))[:_MAX_WORDS]
    hashes = int.from_bytes(b"".join(map(xxh3_64_digest, different)), "little")
    return _find_majority(hashes, len(different)) or 1


def digest_statements(extraction: Extraction) -> int:
    """Return a digest of a page's title and of the literals of its statements, without addresses, in their order.

    IRIs do not count: the page's own is in all of its statements.
    """
    parts = [extraction.title or ""]
    for nquads in extraction.statements.values():
        # Every second piece is a literal; escaped quotation marks add pieces, but the same ones for the same text.
        parts += nquads.split('"')[1::2]
    literals = [part for part in parts if not part.startswith("http")]
    return xxh3_64_intdigest('"'.join(literals).encode("utf-8", "replace"))


def _sample_words(text: str) -> list[bytes]:
    """Return the words, or pairs of characters if the script has no spaces; of a long text, those of a sample of its lines."""
    data = text[:_MAX_TEXT_CHARS].encode("utf-8", "replace")
    if len(data) > _SAMPLE_BYTES:
        # A half, a quarter or an eighth of the lines: each is chosen by its own hash, so a changed line affects no other.
        most = (_HASH_MASK >> (len(data) // _SAMPLE_BYTES).bit_length()).to_bytes(8, "big")
        lines = data.split(b"\n")
        chosen = [line for line, digest in zip(lines, map(xxh3_64_digest, lines), strict=True) if digest <= most]
        data = b"\n".join(chosen or lines)[:_SAMPLE_BYTES]
    words = data.split()
    if len(words) * _MAX_WORD_CHARS < len(data) and len(words) * _MAX_WORD_CHARS < len(data.decode("utf-8", "ignore")):
        characters = b"".join(words).decode("utf-8", "ignore")
        words = [(first + second).encode() for first, second in pairwise(characters)]
    return words


def _find_majority(hashes: int, count: int) -> int:
    """Return the bits that are set in more than half of `count` hashes, adding hashes in pairs, then pairs of pairs, and so on.

    The sums are stored as bit planes: the first has the lowest bit of every sum. One operation adds one bit of all sums.
    """
    planes = [hashes]
    width = _MAX_WORDS * _HASH_BITS
    while width > _HASH_BITS:
        width //= 2
        mask = (1 << width) - 1
        carry = 0
        sums = []
        for plane in planes:
            left, right = plane & mask, plane >> width
            either = left ^ right
            sums.append(either ^ carry)
            carry = left & right | either & carry
        planes = [*sums, carry]
    # Compare each sum with the half, from the highest plane down.
    half = count // 2
    is_more, is_equal = 0, _HASH_MASK
    for place in range(len(planes) - 1, -1, -1):
        if half >> place & 1:
            is_equal &= planes[place]
        else:
            is_more |= is_equal & planes[place]
            is_equal &= ~planes[place]
    return is_more
