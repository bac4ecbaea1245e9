"""What a link is: the flags of a `LinkKind`, as they are stored with each link."""

from enum import IntFlag


class LinkKind(IntFlag):
    """The kinds of one link; a page may link to another in several ways."""

    LINK = 1
    """A hyperlink."""
    NOFOLLOW = 2
    """The link, or its page as a whole, says `nofollow`."""
    UGC = 4
    """Written by the site's users."""
    SPONSORED = 8
    REDIRECT = 16
    """The source has moved to the target."""
    CANONICAL = 32
    """The source names the target as its canonical URL."""
    DATA = 64
    """A statement of the page has the target as its object."""
    FRAME = 128
    """The page shows the target in a frame."""


UNFOLLOWED = LinkKind.NOFOLLOW | LinkKind.UGC | LinkKind.SPONSORED
"""Links for which their page does not vouch: they pass no rank on, and the words for them have no vote. The crawl does not follow
them, unless it is told to."""
KINDS = tuple(map(LinkKind, range(256)))
"""All kinds by number: to look one up takes a tenth of the time that the class takes."""
