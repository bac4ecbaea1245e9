"""Filler for the demo: a name enters, a small PNG picture or some sentences leave, the same each time, without any files."""

import struct
import zlib
from random import Random
from zlib import crc32

_SIDE, _CELLS = 96, 6
_GROUND = (244, 240, 230)
_OPENINGS = (
    "{name} is spoken of wherever {people} meet, and not only in {season}.",
    "Few remember who first wrote about {name}; most guess it was one of the {people}.",
    "There are two opinions of {name}, and both are held by {people}.",
    "In {season} {name} looks best, say the {people}, who see it every day.",
    "Nobody can tell {name} without mentioning the {thing}.",
    "{name} began, as so much here, with a {thing} and a wager.",
)
_MIDDLES = (
    "The {thing} in the story is real and hangs in a kitchen by the {water}.",
    "A {adjective} winter followed, and the {people} kept the {thing} indoors.",
    "It was measured twice, once with a {thing} and once by ear.",
    "What the {people} paid for it would buy a {adjective} {thing} today.",
    "Visitors are shown the {thing} first and the {water} afterwards.",
    "Its {adjective} side faces the {water}, which explains the smell.",
    "Every {season} somebody proposes to paint it, and every time the {people} decline.",
    "One {adjective} evening it was lent to the {people} and came back with a {thing}.",
    "A drawing shows it beside a {thing}, under {adjective} clouds.",
    "The {water} froze that year, so it travelled by sledge with the {people}.",
    "Children know it by the {adjective} {thing} that somebody left on top.",
    "There is a {adjective} copy, made by {people} who had never seen the {water}.",
)
_ENDINGS = (
    "Ask at the door for the {thing}.",
    "The rest is known to the {people} alone.",
    "It has been {adjective} ever since.",
    "More will be said in {season}.",
    "The {water} keeps its own counsel.",
    "Bring a {thing} and a little patience.",
)
_WORDS = {
    "people": (
        "millers ferrymen weavers bakers herders glaziers printers eelers beekeepers carters choristers sextons "
        "rope-makers lamplighters coopers dyers clerks midwives thatchers fiddlers"
    ).split(),
    "thing": (
        "lantern kettle ladder ledger barrel compass bell spindle bucket almanac whistle sieve trunk saddle "
        "violin anchor candlestick wheelbarrow tambourine hatbox"
    ).split(),
    "adjective": (
        "grey stubborn narrow mild salted crooked borrowed cheerful frosty hollow patient restless mossy brittle "
        "generous lopsided quiet reddish windy unlikely"
    ).split(),
    "water": "lake river canal pond estuary marsh weir spring harbour millrace brook ford".split(),
    "season": ["spring", "early summer", "late summer", "autumn", "winter"],
}


def draw_picture(name: str) -> bytes:
    """Draw a square of cells in one colour, symmetric like woven cloth."""
    seed = crc32(name.encode())
    colour = tuple(60 + (seed >> shift) % 140 for shift in (0, 8, 16))
    cells = crc32(f"{name} cells".encode())
    rows = []
    for y in range(_SIDE):
        row = bytearray()
        for x in range(_SIDE):
            across, down = x * _CELLS // _SIDE, y * _CELLS // _SIDE
            bit = down * _CELLS // 2 + min(across, _CELLS - 1 - across)
            row += bytes(colour if cells >> bit & 1 else _GROUND)
        # Each row begins with its filter type: none.
        rows.append(b"\0" + row)
    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"".join(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc32(kind + data)) for kind, data in chunks
    )


def describe(name: str, salt: str = "") -> str:
    """Five sentences about a name; another salt gives different ones, for another site about the same entity."""
    chance = Random(crc32(f"{name} {salt}".encode()))
    sentences = [chance.choice(_OPENINGS), *chance.sample(_MIDDLES, 3), chance.choice(_ENDINGS)]
    return " ".join(
        sentence.format(name=name, **{kind: chance.choice(words) for kind, words in _WORDS.items()})
        for sentence in sentences
    )
