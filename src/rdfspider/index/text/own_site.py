"""What pages of several sites state about a thing enters; the same leaves, with what a thing's own site shows of it first.

Anybody can describe the thing of another site, or claim that theirs is the same. Name, description, image, address and
facts on its card are those that its own site gives, if it gives any; what others state is still found, and shown with the entity.
"""

from collections.abc import Collection

from msgspec.structs import replace

from rdfspider.index.entities.contributions import Contribution
from rdfspider.index.ledger.writer import Mention
from rdfspider.vocabulary.labels import TITLE_RANK

_BEHIND = 2 * TITLE_RANK
"""What is added to the ranks of other sites' labels."""


def is_behind(contribution: Contribution) -> bool:
    """Whether `prefer_own` has put it behind what the thing's own site states: its facts are shown only where that has none."""
    return contribution.labels[0][0] >= _BEHIND


def prefer_own(mentions: list[Mention], sites: Collection[str]) -> list[Mention]:
    """The mentions of a thing that is at home on these sites: those of other sites without what its own sites show."""
    own = [mention.contribution for mention in mentions if mention.site in sites]
    if not own or len(own) == len(mentions):
        return mentions
    is_named = any(each.labels[0][0] < TITLE_RANK for each in own)
    is_told, is_pictured = any(each.description for each in own), any(each.image for each in own)
    is_placed = any(each.url for each in own)

    def reduce(each: Contribution) -> Contribution:
        labels = tuple((rank + _BEHIND, language, text) for rank, language, text in each.labels)
        return replace(
            each,
            labels=labels if is_named else each.labels,
            description=None if is_told else each.description,
            image="" if is_pictured else each.image,
            url="" if is_placed else each.url,
        )

    return [
        mention if mention.site in sites else mention._replace(contribution=reduce(mention.contribution))
        for mention in mentions
    ]
