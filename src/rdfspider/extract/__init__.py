"""Extraction: a `Page` and its `Content` enter, an `Extraction` leaves.

The steps of a page, all in `page.py`:

1. The kind of the content decides what is parsed (`dom.py`): HTML once, XML after its entities are expanded. RDF
   documents, feeds, JSON and sitemaps are read from their text.
2. The first `base` element of a page sets the base of its references.
3. Each syntax of a table reads the tree or the text and adds triples to its own `Statements` (`statements.py`), which
   makes and repairs terms, names blank nodes and keeps the limits of quads and characters. `datatypes.py` knows dates
   and numbers.
4. `document.py` reads what concerns the page as a document: title, language, robots directives
   (`robots_directives.py`), links, text.
5. The user's own stylesheets (`xslt.py`) and transforms (`transforms.py`) and, on request, GRDDL (`grddl.py`) run in
   other processes (`untrusted.py`).

Invariants:

- Extraction never raises for a page. Whatever is repaired, dropped or cut short is a `Problem`; a bug in one syntax
  costs the page that syntax only, with a Problem `internal-error`.
- It does no I/O: documents that a page refers to come from `ExtractConfig.documents`, and nothing is fetched. Only the
  user's own code can do more.
- It is deterministic: the same bytes, URL and settings give the same lines in the same order, with the same blank
  nodes.
- Every line is valid N-Quads.
- Time and memory are bounded for hostile pages too: every limit has a name, a reason and a test.

To add a syntax, write one module (or folder) with a function that takes a `Document` and its `Content`, or the
`Content` alone, and adds to `Statements`; name it in a table of `page.py`; test it in one file of `tests/extract`.
"""
