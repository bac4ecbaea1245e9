"""The link graph: outcomes of the log enter, answers to who links to whom leave, in some three bits a link each way.

`view.py` follows the log. It reads the links of each page (`page_links.py`), gathers them in memory (`gathering.py`), writes
them as generations, files that never change (`generation.py`), and lets these be merged (`merging.py`, `union.py`);
`manifest.py` says which of them count. `reader.py` answers from one committed state (`state.py`), and gives the whole graph to
algorithms (`csr.py`).

`rater.py` lets the newest state be rated while it grows, by `rating.py` in `rating_process.py`: PageRank (`pagerank.py`),
harmonic centrality (`centrality.py`), mirrors and farms (`mirrors.py`, `resemblance.py`), and what other sites call a page
(`anchor_votes.py`, `generic_texts.py`). All this is in a file of its own (`fame.py`, with `anchor_terms.py`), and what the crawl
takes from it in another (`esteem.py`, `esteem_file.py`).

A generation has a `dictionary.py` of URLs as sort keys (`keys.py`), so that neighbours are near each other; the links in both
directions as `rows.py`; kinds and words of the links as `blobs.py`; all as sections of one file (`sections.py`), in blocks
(`compression.py`) of small numbers (`varints.py`). Everything is checked as it is read: damage is told, and never becomes a
wrong answer.

Invariants: a URL has at most one row that counts, that of its newest outcome by stamp, in whatever order the log was read;
both directions of a generation have the same links; a file is complete before the manifest names it.
"""
