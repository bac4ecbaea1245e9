"""Missing properties: sampled pages of a site enter; gaps such as "12 of 40 products have no price" leave, with examples.

The recommended properties are a table of our own, for the classes of schema.org that matter most to search engines and people.
It says what is usual, not what is allowed. Statements of several pages or syntaxes about an entity count together.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from rdfspider.search.quality.samples import Described, SampledPage
from rdfspider.vocabulary.classes import find_superclasses, fold_class
from rdfspider.vocabulary.prefixes import SCHEMA

_HANDED_DOWN = frozenset(
    "Product Article BlogPosting NewsArticle ScholarlyArticle Book Event LocalBusiness Organization Person Offer Review "
    "AggregateRating SoftwareApplication WebPage WebSite Vehicle Accommodation VideoObject Course "
    "CourseInstance EventSeries PublicationEvent UserInteraction DiscussionForumPosting".split()
)
"""Classes whose recommendations also hold for subclasses. ItemList is not one: HowToStep is a subclass of it, but nobody reads
a step of a recipe as a list."""
_NUMBERS = "sku|gtin|gtin13|gtin12|gtin14|gtin8|mpn|isbn"
_PRICE = "offers.price|lowPrice|priceSpecification offers.priceCurrency|priceSpecification offers.availability"
# By class: needed and useful properties. `a|b` means that either is enough, `a.b` that the value of a should have b.
_TABLE = {
    "Product": (
        "name",
        f"image description offers|review|aggregateRating brand|manufacturer {_NUMBERS} {_PRICE}",
    ),
    "Offer": ("price|priceSpecification", "priceCurrency|priceSpecification availability"),
    "AggregateOffer": ("lowPrice", "highPrice priceCurrency offerCount"),
    "AggregateRating": ("ratingValue", "reviewCount|ratingCount bestRating"),
    "Review": ("author reviewRating|reviewBody", "itemReviewed datePublished reviewRating.ratingValue"),
    "Article": ("headline|name", "image datePublished dateModified author publisher author.name"),
    "Book": ("name", "author isbn image datePublished publisher inLanguage"),
    "Movie": ("name", "image director dateCreated|datePublished duration aggregateRating|review"),
    "TVSeries": ("name", "image description actor numberOfSeasons|containsSeason"),
    "VideoObject": ("name thumbnailUrl|thumbnail uploadDate", "description duration contentUrl|embedUrl"),
    "PodcastEpisode": ("name", "datePublished duration associatedMedia|url partOfSeries"),
    "MusicRecording": ("name", "byArtist inAlbum duration"),
    "MusicAlbum": ("name", "byArtist image datePublished track|numTracks"),
    "Event": (
        "name startDate location|eventAttendanceMode",
        "endDate description image eventStatus offers organizer|performer location.address|url offers.price|lowPrice",
    ),
    # Subclasses of Event, but of another sort: they and their subclasses have no recommendations.
    **dict.fromkeys(("CourseInstance", "EventSeries", "PublicationEvent", "UserInteraction"), ("", "")),
    "DiscussionForumPosting": ("headline|name|text|articleBody", "author datePublished"),
    "Recipe": (
        "name recipeIngredient|ingredients recipeInstructions",
        "image author datePublished description prepTime|totalTime|cookTime recipeYield nutrition recipeCategory "
        "aggregateRating|review",
    ),
    "HowTo": ("name step", "image totalTime supply tool description"),
    "LocalBusiness": (
        "name address",
        "telephone openingHours|openingHoursSpecification geo image url priceRange address.addressLocality address.streetAddress",
    ),
    "Organization": ("name", "url logo|image sameAs contactPoint|telephone|email address description"),
    "Person": ("name", "url|sameAs image jobTitle|description|worksFor|affiliation"),
    "Place": ("name", "address|geo"),
    "JobPosting": (
        "title|name description datePosted hiringOrganization jobLocation|applicantLocationRequirements|jobLocationType",
        "validThrough employmentType baseSalary identifier directApply|url hiringOrganization.name",
    ),
    "Course": ("name description", "provider hasCourseInstance offers"),
    "Dataset": (
        "name description",
        "license creator distribution identifier|sameAs dateModified|datePublished keywords",
    ),
    "DataDownload": ("contentUrl|url", "encodingFormat"),
    "SoftwareApplication": ("name", "operatingSystem applicationCategory offers aggregateRating|review"),
    "FAQPage": ("mainEntity", "mainEntity.acceptedAnswer mainEntity.name"),
    "QAPage": ("mainEntity", "mainEntity.name mainEntity.answerCount mainEntity.acceptedAnswer|suggestedAnswer"),
    "Question": ("name|text", "acceptedAnswer|suggestedAnswer"),
    "BreadcrumbList": ("itemListElement", "itemListElement.position itemListElement.name|item"),
    "ItemList": ("itemListElement", "itemListElement.position"),
    "WebSite": ("name url", "potentialAction|publisher"),
    "WebPage": ("name|headline", "description url|mainEntityOfPage datePublished|dateModified"),
    "ProfilePage": ("mainEntity", "dateModified|dateCreated"),
    "Vehicle": ("name|model", "brand|manufacturer vehicleIdentificationNumber mileageFromOdometer offers image"),
    "Accommodation": ("name", "address image occupancy|numberOfRooms"),
    "ScholarlyArticle": (
        "headline|name author",
        "datePublished abstract|description identifier|sameAs isPartOf|publisher",
    ),
}
_EXAMPLES = 3
_THINGS = 20_000
# The value of one of these properties is an entity in its own right; the value of any other is a part or a mention, which
# people do not describe completely.
_STANDS_FOR_ITSELF = frozenset(
    ("mainEntity", "mainEntityOfPage", "itemListElement", "item", "about", "hasPart", "isPartOf")
)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A property that entities of a class should have."""

    names: tuple[str, ...]
    """Short names; any one of them is enough."""
    of: str = ""
    """The property whose value should have it, by short name: `offers` for a product's price. Empty for the entity itself."""
    is_needed: bool = False
    """Whether the entity is of little use without it."""

    @property
    def path(self) -> str:
        """The path of short names: `offers.price`."""
        return f"{self.of}.{self.names[0]}" if self.of else self.names[0]


@lru_cache(maxsize=4096)
def find_recommendations(iri: str) -> tuple[str, tuple[Recommendation, ...]]:
    """Return the class whose recommendations apply, itself or the nearest superclass in `_HANDED_DOWN`, and these; often none."""
    own = fold_class(iri)
    for each in (own, *find_superclasses(iri)):
        name = each.removeprefix(SCHEMA)
        if each.startswith(SCHEMA) and name in _TABLE and (each == own or name in _HANDED_DOWN):
            needed, useful = _TABLE[name]
            return each, tuple(_read(word, True) for word in needed.split()) + tuple(
                _read(word, False) for word in useful.split()
            )
    return "", ()


def say_path(path: str) -> str:
    """Write a path in words: `price of offers` for `offers.price`."""
    before, dot, after = path.partition(".")
    return f"{after} of {before}" if dot else path


def _read(word: str, is_needed: bool) -> Recommendation:
    before, dot, after = word.partition(".")
    return Recommendation(tuple((after if dot else before).split("|")), before if dot else "", is_needed)


@dataclass(frozen=True, slots=True)
class GapExample:
    """An entity, and a page that describes it."""

    id: str
    label: str
    page: str


@dataclass(frozen=True, slots=True)
class Gap:
    """A property that some entities of a class lack but should have."""

    type: str
    property: str
    """The IRI of the last property of the path."""
    path: str
    """`price`, or `offers.price`."""
    is_needed: bool
    missing: int
    things: int
    """How many entities could have it."""
    among: str
    """Which entities, as a relative clause: `that stand for themselves and have offers`. Empty for all of the class."""
    examples: tuple[GapExample, ...]


@dataclass(slots=True)
class SampledEntity:
    """An entity of the site, as all pages of the sample describe it."""

    id: str
    label: str = ""
    page: str = ""
    types: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    """The properties that it has."""
    inside: dict[str, list[set[str]]] = field(default_factory=dict)
    """By property: the properties of each of its values that the page describes."""
    is_part: bool = True
    """Whether it is a part of something else on all pages."""


def find_gaps(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> tuple[Gap, ...]:
    """Find gaps: needed properties first, then those that most entities lack; `entities` has the entity's id of nodes."""
    counts: dict[tuple[str, Recommendation], _Count] = {}
    for thing in collect_entities(pages, entities).values():
        if thing.names <= {"url"}:
            # A class and a URL alone only refer to something that is described elsewhere.
            continue
        found: dict[str, tuple[Recommendation, ...]] = dict(find_recommendations(iri) for iri in thing.types)
        for iri, recommendations in found.items():
            for recommendation in recommendations:
                if recommendation.is_needed or not thing.is_part:
                    _count_recommendation(counts.setdefault((iri, recommendation), _Count()), recommendation, thing)
    gaps = [
        Gap(
            iri,
            SCHEMA + recommendation.names[0],
            recommendation.path,
            recommendation.is_needed,
            count.missing,
            count.things,
            _tell_among(recommendation),
            tuple(count.examples),
        )
        for (iri, recommendation), count in counts.items()
        if count.missing
    ]
    return tuple(
        sorted(gaps, key=lambda gap: (not gap.is_needed, -gap.missing / gap.things, -gap.missing, gap.type, gap.path))
    )


def _tell_among(recommendation: Recommendation) -> str:
    whole = "" if recommendation.is_needed else "stand for themselves"
    having = f"have {recommendation.of}" if recommendation.of else ""
    conditions = " and ".join(filter(None, (whole, having)))
    return f"that {conditions}" if conditions else ""


def collect_entities(pages: Iterable[SampledPage], entities: Mapping[str, str]) -> dict[str, SampledEntity]:
    """Collect the entities that have a class, by id."""
    things: dict[str, SampledEntity] = {}
    for page in pages:
        parts = {
            value.text
            for node in page.nodes.values()
            for name, values in node.values.items()
            if name not in _STANDS_FOR_ITSELF
            for value in values
            if value.is_node
        }
        for name, node in page.nodes.items():
            if not node.types:
                continue
            key = entities.get(name, name)
            thing = things.get(key)
            if thing is None:
                if len(things) == _THINGS:
                    return things
                thing = things[key] = SampledEntity(key, node.label, page.url)
            _describe(thing, name, node, page, name in parts)
    return things


def _describe(thing: SampledEntity, name: str, node: Described, page: SampledPage, is_part: bool) -> None:
    thing.label = thing.label or node.label
    thing.types.update(node.types)
    thing.names.update(node.values)
    if name.startswith(("http://", "https://")):
        # Its IRI is a web address.
        thing.names.add("url")
    thing.is_part &= is_part
    for each, values in node.values.items():
        for value in values:
            inner = page.nodes.get(value.text) if value.is_node and value.text != name else None
            if inner is not None and inner.values:
                thing.inside.setdefault(each, []).append({*inner.values})


@dataclass(slots=True)
class _Count:
    missing: int = 0
    things: int = 0
    examples: list[GapExample] = field(default_factory=list)


def _count_recommendation(count: _Count, recommendation: Recommendation, thing: SampledEntity) -> None:
    if not recommendation.of:
        is_missing = thing.names.isdisjoint(recommendation.names)
    elif inside := thing.inside.get(recommendation.of):
        is_missing = any(names.isdisjoint(recommendation.names) for names in inside)
    else:
        # A missing value is another gap, and an undescribed one may be on another page.
        return
    count.things += 1
    if is_missing:
        count.missing += 1
        # Nameless entities on one page look the same.
        is_new = (thing.label, thing.page) not in [(one.label, one.page) for one in count.examples]
        if is_new and len(count.examples) < _EXAMPLES:
            count.examples.append(GapExample(thing.id, thing.label, thing.page))
