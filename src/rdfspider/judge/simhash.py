"""How similar two pages are: a text enters, its simhash leaves (Charikar), 64 bits of which few differ where texts differ in few
words; and what a page states enters, a digest leaves that is equal where two pages state the same.

Every word of a text has a hash of 64 bits; a bit of the simhash is what most of these hashes have at that place. The hashes lie
side by side in one long integer, so that all of them are counted at once. A word counts once, or else the few words that every
text is full of would decide; its place does not count, so that a list in another order has the same simhash.
"""

from itertools import pairwise

from xxhash import xxh3_64_digest, xxh3_64_intdigest

from rdfspider.records import Extraction

MIN_WORDS = 50
"""A text of fewer words proves nothing: stubs and listings have the words of their templates only."""

# What is looked at of a long text.
_MAX_TEXT_CHARS = 100_000
_SAMPLE_BYTES = 4_000
# A power of two, as the counting halves them.
_MAX_WORDS = 512
# Where words between spaces are longer than this on the average, the script has no spaces between words.
_MAX_WORD_CHARS = 14
_HASH_BITS = 64
_HASH_MASK = (1 << _HASH_BITS) - 1


def compute_simhash(text: str) -> int:
    """The simhash of a text; 0 where it is too short for one."""
    words = _sample_words(text)
    if len(words) < MIN_WORDS:
        return 0
    different = list(dict.fromkeys(words))[:_MAX_WORDS]
    hashes = int.from_bytes(b"".join(map(xxh3_64_digest, different)), "little")
    return _find_majority(hashes, len(different)) or 1


def digest_statements(extraction: Extraction) -> int:
    """A digest of what a page states: its title, and the literals of its statements but for addresses, in their order.

    IRIs do not count: that of the page itself is in all of its statements, and each page has its own.
    """
    parts = [extraction.title or ""]
    for nquads in extraction.statements.values():
        # Every second piece is a literal; an escaped quotation mark makes more of them, but the same ones for the same text.
        parts += nquads.split('"')[1::2]
    literals = [part for part in parts if not part.startswith("http")]
    return xxh3_64_intdigest('"'.join(literals).encode("utf-8", "replace"))


def _sample_words(text: str) -> list[bytes]:
    """Words, or pairs of characters where the script has no spaces; of a long text, those of some of its lines."""
    data = text[:_MAX_TEXT_CHARS].encode("utf-8", "replace")
    if len(data) > _SAMPLE_BYTES:
        # A half of the lines, a quarter, an eighth: each stays or goes by its own hash, so one that differs moves no other.
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
    """The bits that more than half of so many hashes have: they are added in pairs, then pairs of pairs, and so on.

    A sum is kept as planes, the first with its lowest bits, the next with its second bits; one operation adds a bit of all.
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
    # From the highest plane down: in which places is the sum above the half?
    half = count // 2
    is_more, is_equal = 0, _HASH_MASK
    for place in range(len(planes) - 1, -1, -1):
        if half >> place & 1:
            is_equal &= planes[place]
        else:
            is_more |= is_equal & planes[place]
            is_equal &= ~planes[place]
    return is_more
