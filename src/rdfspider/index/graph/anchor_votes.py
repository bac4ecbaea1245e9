"""What other sites call a page: a state of the graph enters, the anchor texts of its links leave, with the votes that each has.

Each site (registrable domain) has one vote for a page of another site: the text that most of its links to it have. Hosts that
repeat each other, a farm or mirrors, have one vote together. Links for which nobody vouches have none, and neither have texts
that would do for any page, as "click here". So nobody is called something because one site says it a thousand times.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rdfspider.index.analysis import split_text
from rdfspider.index.graph.generic_texts import GENERIC_TEXTS
from rdfspider.index.graph.kinds import UNFOLLOWED, LinkKind
from rdfspider.index.graph.state import State
from rdfspider.index.graph.varints import Flags, Numbers

MAX_DIFFERENT = 5_000_000
"""Different texts that are known at a time; they take some 300 bytes each. Others that come later have no votes."""
MAX_OF_SITE = 20_000
"""Texts that no other site has said before; so nobody takes the room of all others."""
MAX_TEXTS = 20
"""Texts of a page that are taken, those with the most votes first."""
_ADDRESS = re.compile(r"(?i)(?:https?://|www\.)")


class Votes(NamedTuple):
    """The votes for pages: each page with each of its texts, in the order of pages, the text with the most votes first."""

    pages: Numbers
    texts: Numbers
    """Places in `names`."""
    votes: Numbers
    names: Sequence[str]
    """All texts, as words and runs of scripts without spaces, with spaces between them."""


def count_votes(state: State, voters: Numbers, stands_for: Numbers) -> Votes:
    """Count the votes for all pages that were read. `voters` has the site of each page, as a number, and `stands_for` the page
    for which each stands: mostly itself."""
    is_read = state.find_read()

    def is_vote(sources: Numbers, targets: Numbers) -> Flags:
        meant = stands_for[targets]
        chosen: Flags = is_read[meant] & (voters[sources] != voters[meant])
        return chosen

    numbers = _Numbers()
    found = [np.empty((3, 0), np.int32)]
    for sources, targets, texts in state.list_anchors(is_vote, int(LinkKind.LINK), int(UNFOLLOWED)):
        sites = voters[sources]
        said = [numbers.find(_read_text(text), site) for text, site in zip(texts, sites.tolist(), strict=True)]
        votes = np.array([stands_for[targets], sites, said], np.int32)
        found.append(votes[:, votes[2] >= 0])
    pages, sites, said = np.hstack(found)
    names = sorted(numbers.known)
    place_of = np.empty(len(names), np.int32)
    place_of[[numbers.known[name] for name in names]] = np.arange(len(names))
    return _elect(pages, sites, place_of[said], names)


def fold_text(text: str) -> str:
    """The words of a text, and its runs of scripts without spaces, as the text index has them."""
    words, runs = split_text(text)
    return " ".join((*words, *runs))


@lru_cache(maxsize=65_536)
def _read_text(text: str) -> str:
    """A text in its folded form; nothing if it says nothing of the page. Many links have the same."""
    folded = "" if _ADDRESS.match(text) else fold_text(text)
    return "" if folded in GENERIC_TEXTS else folded


class _Numbers:
    """Different texts, each with a number."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}
        self._new_of: Counter[int] = Counter()
        """How many texts each site was the first to say."""

    def find(self, text: str, site: int) -> int:
        """The number of what a site says; -1 for nothing, and for new texts where there are very many."""
        number = self.known.get(text)
        if number is None:
            if not text or len(self.known) >= MAX_DIFFERENT or self._new_of[site] >= MAX_OF_SITE:
                return -1
            self._new_of[site] += 1
            number = self.known[text] = len(self.known)
        return number


def _elect(pages: Numbers, sites: Numbers, texts: Numbers, names: Sequence[str]) -> Votes:
    """Let each site choose for each page the text that it uses most, of equals the first by alphabet; and count."""
    used, counts = _count_rows(pages, sites, texts)
    used = used[:, np.lexsort((used[2], -counts, used[1], used[0]))]
    is_first = np.ones(used.shape[1], np.bool_)
    is_first[1:] = (used[:2, 1:] != used[:2, :-1]).any(axis=0)
    chosen, votes = _count_rows(used[0][is_first], used[2][is_first])
    order = np.lexsort((chosen[1], -votes, chosen[0]))
    (pages, texts), votes = chosen[:, order], votes[order]
    starts = np.searchsorted(pages, pages, side="left")
    is_kept = np.arange(len(pages)) - starts < MAX_TEXTS
    # Ids and places fit into 32 bits, but their products do not.
    kept_pages, kept_texts = (each[is_kept].astype(np.int64) for each in (pages, texts))
    return Votes(kept_pages, kept_texts, votes[is_kept], names)


def _count_rows(*columns: Numbers) -> tuple[Numbers, Numbers]:
    """The different rows of some columns, sorted, and how often each is there."""
    rows = np.array(columns)
    rows = rows[:, np.lexsort(rows[::-1])]
    is_new = np.ones(rows.shape[1], np.bool_)
    is_new[1:] = (rows[:, 1:] != rows[:, :-1]).any(axis=0)
    starts = np.flatnonzero(is_new)
    return rows[:, starts], np.diff(starts, append=rows.shape[1])
