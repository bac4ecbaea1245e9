"""A class in, the properties out that readers of its things look for: those that are needed, and those that are useful.

A table of our own, for the classes of schema.org that search engines and people care about most. It says what is usual, not what
is allowed. What a thing is said to be counts; of the classes below only those of a few are asked the same.
"""

from dataclasses import dataclass
from functools import lru_cache

from rdfspider.vocabulary.classes import find_superclasses, fold_class
from rdfspider.vocabulary.prefixes import SCHEMA


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A property that things of a class should have."""

    names: tuple[str, ...]
    """Short names; any of them will do."""
    of: str = ""
    """The short name of the property whose value should have it: `offers` for the price of a product. Empty for itself."""
    is_needed: bool = False
    """Whether the thing is of little use without."""

    @property
    def path(self) -> str:
        """As people would write it: `offers.price`."""
        return f"{self.of}.{self.names[0]}" if self.of else self.names[0]


@lru_cache(maxsize=4096)
def find_recommendations(iri: str) -> tuple[str, tuple[Recommendation, ...]]:
    """The class that there are recommendations for, itself or the nearest above that hands them down, and what they are; none for
    most."""
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
    """A path in words: `price of offers` for `offers.price`."""
    before, dot, after = path.partition(".")
    return f"{after} of {before}" if dot else path


def _read(word: str, is_needed: bool) -> Recommendation:
    before, dot, after = word.partition(".")
    return Recommendation(tuple((after if dot else before).split("|")), before if dot else "", is_needed)


_HANDED_DOWN = frozenset(
    "Product Article BlogPosting NewsArticle ScholarlyArticle Book Event LocalBusiness Organization Person Offer Review "
    "AggregateRating SoftwareApplication WebPage WebSite Vehicle Accommodation VideoObject Course "
    "CourseInstance EventSeries PublicationEvent UserInteraction DiscussionForumPosting".split()
)
"""The classes whose recommendations hold for the classes below them too. A step of a recipe is a list by its class, and nobody
reads it as one."""
_NUMBERS = "sku|gtin|gtin13|gtin12|gtin14|gtin8|mpn|isbn"
_PRICE = "offers.price|lowPrice|priceSpecification offers.priceCurrency|priceSpecification offers.availability"
# By class: what is needed, and what is useful. `a|b` means that either will do, `a.b` that the value of a should have b.
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
    # Events by their class, but of another sort: nothing is asked of them, nor of what is below them.
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
