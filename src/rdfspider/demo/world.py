"""The invented world that the sites are about: people, places, books and so on, as plain tables.

Everything here is made up: no person, place, book or organisation exists. Keys are part of URLs; tables refer to each other
by key, so that several sites describe the same entity. Hidden entities have a table of their own: only the hidden pages name
them, and neither links nor URLs do, so a well-behaved crawler never stores their names.
"""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple


class DemoPlace(NamedTuple):
    """A town, a river, a building."""

    key: str
    name: str
    kind: str
    latitude: float
    longitude: float
    population: int
    """0 if nobody lives there."""


class Person(NamedTuple):
    """Somebody who writes, teaches, cooks or makes things."""

    key: str
    name: str
    trade: str
    born: int
    home: DemoPlace


class Book(NamedTuple):
    """A book of the library."""

    key: str
    title: str
    author: Person
    year: int
    subject: str


class Product(NamedTuple):
    """A product of the shop."""

    key: str
    name: str
    category: str
    price: str


class Event(NamedTuple):
    """An event at a place on a day."""

    key: str
    name: str
    kind: str
    day: date
    place: DemoPlace
    host: Person


class Recipe(NamedTuple):
    """A dish by a cook, with a product of the shop."""

    key: str
    name: str
    course: str
    cook: Person
    product: Product
    minutes: int


class Exhibit(NamedTuple):
    """An object in the museum."""

    key: str
    name: str
    room: str
    maker: Person
    origin: DemoPlace
    year: int


class Course(NamedTuple):
    """A course of the university."""

    key: str
    name: str
    department: str
    teacher: Person
    textbook: Book


class Dataset(NamedTuple):
    """A dataset of the open-data portal."""

    key: str
    title: str
    theme: str
    place: DemoPlace


class Post(NamedTuple):
    """A post of the blog, about a book."""

    key: str
    title: str
    author: Person
    day: date
    book: Book


class Article(NamedTuple):
    """An article of the town's newspaper."""

    key: str
    title: str
    day: date
    place: DemoPlace
    person: Person


class Secret(NamedTuple):
    """An entity that must not be found: its place, its name, and what excludes it."""

    site: str
    path: str
    name: str
    reason: str
    """robots, noindex, nofollow, expired or trap."""


def make_key(name: str) -> str:
    """The name as a part of a URL."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _read_groups(table: str) -> Iterator[tuple[str, str]]:
    """Parse lines `group: one; two; three`, which may continue on the next line, into pairs of group and entry."""
    group = ""
    for line in table.strip().splitlines():
        start, colon, entries = line.rpartition(":")
        group = start if colon else group
        yield from ((group, entry.strip()) for entry in entries.split(";") if entry.strip())


_PLACES = """
town: Harrowmere 18240; Osk 4120; Tamberley 9310; Quellstead 2275; Little Varn 640; Drossen 31700; Pelhaven 12080;
    Ninecross 1535
village: Under Eld 312; Sallowby 188; Brackwater End 97; Fennel Green 420; Oxwhistle 256
building: Lantern Hall; The Old Ropery; Saint Odrun's Mill; Harrowmere Bathhouse; The Glass Granary; Ferryman's House
nature: Lake Amble; River Tessel; Mount Corriden; Wexel Forest; The Grey Flats; Sundew Moor
"""
PLACES = tuple(
    DemoPlace(
        make_key(name := entry.rstrip("0123456789 ")),
        name,
        kind,
        round(61.2 + number * 0.037, 3),
        round(-32.5 + number * 0.051, 3),
        int(entry[len(name) :] or 0),
    )
    for number, (kind, entry) in enumerate(_read_groups(_PLACES))
)

_PEOPLE = """
writer: Ilse Varnholt; Tobin Oskel; Maud Quellinder; Corvin Peldrake; Sanna Brindlowe; Edric Tamsmoor
scholar: Yorick Drosdale; Wenna Amblethorne; Luka Ferrowick; Hesper Nineby; Otto Sallowmane; Brisa Corridane
cook: Fenja Oxwold; Marlo Tesselby; Juna Brackwell; Piet Underelde; Alva Fennelsworth; Rook Wexelman
maker: Gisla Ropemond; Arno Millender; Thessa Glasby; Bron Lanternell; Vigo Granarsk; Nella Ferrymade
citizen: Osric Harrowgait; Dalla Sundewick; Quinto Greyflatt; Merle Bathurne; Stellan Crosswater; Ina Pelhavner
"""
PEOPLE = tuple(
    Person(make_key(name), name, trade, 1931 + number * 7 % 60, PLACES[number * 5 % 13])
    for number, (trade, name) in enumerate(_read_groups(_PEOPLE))
)
WRITERS, SCHOLARS, COOKS, MAKERS, CITIZENS = (PEOPLE[start : start + 6] for start in range(0, 30, 6))
AUTHORS = WRITERS + SCHOLARS

_BOOKS = """
travel: Nine Ferries North; The Tessel in Winter; A Cart Full of Maps; Roads That Turn Back; Sleeping in Mills;
    The Long Causeway; Eldward; Three Inns and a Storm; Walking the Grey Flats; Letters from Osk
fiction: The Lamp Counter; A House for the Tide; Salt Orphans; The Quiet Auction; Mirrors of Drossen; Eleven Doors;
    What the Heron Saw; The Glove Market; Paper Weather; Marigold and Iron
history: The Ropewalkers' Strike; A Short Reign of Bells; When Harrowmere Burned; Guilds of the Lower Lake;
    The Bathhouse Papers; Coins Without Kings; The Bridge Tax; Mills and Millers; The Winter Parliament; Bread Years
nature: Mosses of Sundew Moor; The Heron Year; Stone, Ice, Corriden; A Field Guide to Fog; Eels; Forest Under Lamps;
    Clouds Over Amble; Night Moths of Wexel; Tides for Beginners; The Patient Orchard
science: Elementary Knot Theory for Sailors; Glass and Its Moods; Measuring Rivers; The Arithmetic of Bells;
    Weights Before Metres; An Atlas of Echoes; Heat in Old Houses; Small Machines; Counting Birds; How Salt Sleeps
"""
BOOKS = tuple(
    Book(make_key(title), title, AUTHORS[number % len(AUTHORS)], 1958 + number * 11 % 66, subject)
    for number, (subject, title) in enumerate(_read_groups(_BOOKS))
)

DISPUTED_YEARS = {"an-atlas-of-echoes": 1988, "when-harrowmere-burned": 2004}
"""Publication years by the university that contradict the library's: sources disagree, as on every web."""

_PRODUCTS = """
teas: Marsh Mint Tea 4.20; Smoked Nettle Tea 5.10; Lakeshore Black 6.40; Heather Evening Blend 4.95;
    Sundew Green 7.20; Ferryman's Breakfast 5.60; Pine Tip Infusion 4.75; Rosehip and Rye 5.30
jams: Cloudberry Jam 6.80; Sloe Jelly 5.40; Quince Cheese 7.10; Bitter Plum Jam 4.90; Rowan Marmalade 6.20;
    Pear and Thyme Spread 5.75; Elder Syrup 6.60; Crab Apple Butter 5.15
tools: Copper Whisk 18.50; Birch Ladle 9.90; Eel Smoking Rack 54.00; Herb Shears 14.25; Stone Mortar 32.00;
    Barley Mill 88.00; Oak Butter Press 41.50; Enamel Funnel 7.80
cloths: Linen Towel, Grey 12.00; Wool Blanket, Moss 74.00; Felt Slippers 29.50; Sailcloth Apron 24.90;
    Knotted Rug, Small 120.00; Waxed Cotton Bag 36.00; Quilted Tea Cosy 16.75; Striped Bolster 27.25
lamps: Ropery Lantern 48.00; Glass Float Lamp 65.50; Tin Candle Box 11.20; Reading Lamp, Brass 92.00;
    Mill Window Light 38.40; Beeswax Tapers 8.60; Storm Lamp, Small 33.00; Reed Night Light 5.95
papers: Harrowmere Town Map 9.50; Moor Field Notebook 6.90; Tide Table Poster 12.80; Marbled Endpapers 15.40;
    Ferry Ticket Postcards 4.40; Ledger, Half Bound 28.00; Star Chart of the North 19.60; Seed Envelope Set 3.85
"""
PRODUCTS = tuple(
    Product(make_key(name), name, category, price)
    for category, entry in _read_groups(_PRODUCTS)
    for name, _, price in [entry.rpartition(" ")]
)

_EVENTS = """
Concert: Bells at Low Water; An Evening for Two Zithers; The Ropery Choir; Drums of the Flats; Song Cycle for a Heron;
    Organ Hour; Brass on the Ferry; Lullabies for Millers
Lecture: How Fog Remembers; Knots and Numbers; The Price of Salt; Why Mills Fell Silent; Echo Mapping;
    A History of Lamps; Reading Old Tide Tables; Birds by Moonlight
Exhibition: Hundred Ladles; The Colour Grey; Maps Drawn Backwards; Glass Before Windows; Children of the Bathhouse;
    Paper Boats; Quiet Machines; Rugs of Ninecross
Festival: Eel Supper; Feast of the First Frost; Kite Week; Cloudberry Days; Night of Open Kitchens; Lantern Walk;
    The Great Swap; Orchard Sunday
Workshop: Carve a Spoon; Bind a Book; Brew a Nettle Tea; Mend a Net; Draw Your Street; Blow a Glass Float;
    Dye with Moss; Set a Page of Type
"""
EVENTS = tuple(
    Event(make_key(name), name, kind, date(2026, 3, 1) + timedelta(days=3 * number), PLACES[number * 7 % 25], person)
    for number, (kind, name) in enumerate(_read_groups(_EVENTS))
    for person in [PEOPLE[number * 11 % 30]]
)

_RECIPES = """
soup: Nettle Soup; Eel Broth with Rye; Barley and Leek Pot; Smoked Beet Soup; Ferry Chowder; Sorrel Cream;
    Onion Soup of the Mill; Pea Soup with Mint
bread: Moss Loaf; Oat Cakes; Seeded Crispbread; Buttermilk Rolls; Potato Bannock; Rye Ring; Honey Plait; Ash Bread
main: Pike in Paper; Lamb with Rowan; Turnip Pie; Mushroom Dumplings; Braised Red Cabbage; Hare in Juniper;
    Baked Perch; Lentils Under Crust
sweet: Cloudberry Fool; Quince Tart; Pear Cake from Osk; Elder Fritters; Burnt Cream; Rosehip Snow; Apple Sheet;
    Plum Dumplings
drink: Heather Punch; Hot Sloe; Barley Water; Mint Cooler; Pine Lemonade; Spiced Buttermilk; Birch Fizz;
    Tea with Rum and Smoke
"""
RECIPES = tuple(
    Recipe(make_key(name), name, course, COOKS[number % 6], PRODUCTS[number * 7 % 48], 15 + number * 10 % 95)
    for number, (course, name) in enumerate(_read_groups(_RECIPES))
)

_EXHIBITS = """
Textiles: Sailcloth Banner; Bride's Red Stockings; Guild Rug; Net of the Last Eel Fisher; Doll in Mourning;
    Saddle Blanket
Glass: Float with a Trapped Bee; Green Window Pane; Pair of Eye Glasses; Apothecary Drop Bottle; Broken Lens;
    Blue Decanter
Metal: Bell Without a Tongue; Ferry Token; Key to Nine Doors; Copper Weather Cock; Tin Crown; Mill Hammer
Paper: Tax Roll of the Bridge; Map Drawn on Bark Paper; Playing Cards of Osk; Ballad Sheet; Almanac with Burn Marks;
    Passport of a Goose
Wood: Carved Prow; Butter Mould with Heron; Child's Sledge; Rope Maker's Wheel; Ladle of Honour; Puppet Judge
"""
EXHIBITS = tuple(
    Exhibit(make_key(name), name, room, MAKERS[number % 6], PLACES[number * 3 % 25], 1610 + number * 13 % 320)
    for number, (room, name) in enumerate(_read_groups(_EXHIBITS))
)

_COURSES = """
Hydrology: Rivers in Flood; Reading Water; Ice and Its Roads; Wells and Springs; Field Week at Lake Amble
Letters: Ballads and Broadsheets; The Northern Novel; Translating Silence; Writing for Radio Plays;
    Old Hands, Old Scripts
Crafts: Structures of Cloth; Chemistry of Glass; Timber Joints; Paper Conservation; The Workshop as Laboratory
Mathematics: Knots; Bells and Permutations; Maps and Projections; Counting Rare Things; Proof for Sceptics
History: Guild Towns; The Age of Ferries; Food and Famine; Archives in Practice; Money Before Banks
"""
COURSES = tuple(
    Course(make_key(name), name, department, SCHOLARS[number % 6], BOOKS[number * 9 % 50])
    for number, (department, name) in enumerate(_read_groups(_COURSES))
)

_DATASETS = """
environment: Water Levels of Lake Amble; Moth Counts; Fog Days; Soil Samples of Sundew Moor; Tree Register; Noise Map
transport: Ferry Departures; Bridge Crossings; Bicycle Counters; Cart Licences; Road Works; Landing Stages
culture: Listed Buildings; Museum Visitors; Library Loans by Subject; Street Names Explained; Bell Inventory;
    Stage Permits
economy: Market Stalls; Tea Imports; Rents by Quarter; Guild Members; Shop Opening Hours; Salt Prices since 1820
people: Population by Village; First Names; School Places; Bathhouse Visits; Election Results; Polling Places
"""
DATASETS = tuple(
    Dataset(make_key(title), title, theme, PLACES[number * 4 % 25])
    for number, (theme, title) in enumerate(_read_groups(_DATASETS))
)

_POSTS = """
notes: On Reading by Bad Light; My Aunt's Bookmarks; The Smell of Ledgers; Lending and Losing; Two Kinds of Fog;
    A Shelf for the Boat; Against Blurbs; The Index as Poem; Rain on Page Forty; Who Reads Almanacs; Found in a Coat;
    The Slowest Chapter
talks: An Hour with a Binder; Questions for a Translator; The Printer's Cat; A Cook Who Writes;
    Breakfast with a Mapmaker; Choir Practice; How She Counts Birds; The Man Who Rents Dictionaries;
    After the Lecture; A Letter from the Mill; Seven Small Presses; Night Shift at the Bindery
"""
POSTS = tuple(
    Post(
        make_key(title),
        title,
        WRITERS[number % 6],
        date(2025, 11, 2) + timedelta(days=5 * number),
        BOOKS[number * 13 % 50],
    )
    for number, (_, title) in enumerate(_read_groups(_POSTS))
)

_ARTICLES = """
news: Bathhouse Reopens After Two Winters; Ferry Fares to Stay the Same; Council Counts the Geese;
    New Roof for Lantern Hall; Bridge Tax Debated Again; School Choir Wins Golden Herring; Power Cut Blamed on Heron;
    Market Moves to the Ropery; Library Extends Its Hours; Town Clock Five Minutes Fast; Orchard Planted on Old Quay;
    Mayor Opens Smallest Museum
views: In Praise of Mud; Leave the Lamps On; Why I Walk to Osk; The Trouble with Kites; Letters to the Editor;
    What Ponds Are For
"""
ARTICLES = tuple(
    Article(
        make_key(title),
        title,
        date(2026, 1, 4) + timedelta(days=4 * number),
        PLACES[number * 6 % 25],
        CITIZENS[number % 6],
    )
    for number, (_, title) in enumerate(_read_groups(_ARTICLES))
)

CALENDAR_END = 2099
"""The year in which the endless calendar finally has an entry: a crawler that gets there has fallen into the trap."""
FACETS_END = 7
"""The number of combined filters that reveals the shop's hidden offer."""
FOLDERS_END = 12
"""How often the newspaper's archive must be nested in itself, by its broken link, to reveal what is hidden."""

_SECRETS = f"""
shop: robots /cart Cart of Nobody; robots /staff/today Staff Only Sampler; robots /account/wishes Wishlist of a Stranger;
    nofollow /partner/offer Gold Plated Teapot; trap /products Clearance Behind Seven Filters
museum: noindex /depot/item-212 Uncatalogued Mask
university: noindex /people/guest Visiting Fellow Zorn Halvard
library: noindex /reserve/shelf-3 The Banned Hymnal
blog: nofollow /win Lucky Numbers Casino
events: trap /calendar/{CALENDAR_END}/01 Feast at the End of Time
data: robots /internal/7 Draft Border of Eld
town: robots /council/closed/march Minutes of the Closed Session; noindex /drafts/1 Mayor Resigns in Draft;
    noindex /drafts/2 Embargoed Budget; expired /notices/2019 Auction That Is Long Over;
    nofollow /letters/all Unmoderated Letter; trap /{"archive/" * FOLDERS_END} Archive Within Archives
"""
SECRETS = tuple(
    Secret(site, path, name, reason)
    for site, entry in _read_groups(_SECRETS)
    for reason, path, name in [entry.split(" ", 2)]
)


def secrets_of(site: str) -> tuple[Secret, ...]:
    """The hidden entities of a site."""
    return tuple(secret for secret in SECRETS if secret.site == site)
