"""What the views take of a page's statements: an outcome of the log enters, the same with what is worth indexing leaves.

This is the one place where statements are chosen for the indexes. Page mechanics are left out unless `index.mechanics` is set.
And where a site's `<base>` makes RDFa say of the home page what `meta` elements say of the page, the page is the subject: RDFa
is right by its rules, but every page of the site would give the home page another title.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from rdfspider.archive.outcomes import Outcome
from rdfspider.vocabulary.mechanics import drop_mechanics
from rdfspider.vocabulary.prefixes import META_PREFIXES
from rdfspider.vocabulary.spellings import fold_name
from rdfspider.vocabulary.terms import make_graph_iri

_META = tuple(META_PREFIXES.values())


def choose_statements(outcome: Outcome, *, mechanics: bool) -> Outcome:
    """Return the outcome with the statements that the indexes take."""
    chosen = outcome.statements if mechanics else drop_mechanics(outcome.statements)
    chosen = address_page(chosen, outcome.url)
    return outcome if chosen is outcome.statements else replace(outcome, statements=chosen)


def address_page(statements: Mapping[str, str], url: str) -> Mapping[str, str]:
    """Make the page the subject of those statements in RDFa that its `meta` elements make about the page."""
    rdfa, meta = statements.get("rdfa", ""), statements.get("meta", "")
    if not rdfa or not meta:
        return statements
    page = f"<{make_graph_iri(url)}>"
    lines = rdfa.split("\n")
    others = [number for number, line in enumerate(lines) if line[:1] == "<" and not line.startswith(page)]
    others = [number for number in others if _read_name(lines[number])]
    if not others:
        return statements
    said = {_read_rest(line) for line in meta.split("\n") if line.startswith(page)}
    moved = [number for number in others if _read_rest(lines[number]) in said]
    for number in moved:
        lines[number] = f"{page} {lines[number].partition(' ')[2]}"
    return {**statements, "rdfa": "\n".join(dict.fromkeys(lines))} if moved else statements


def _read_name(line: str) -> str:
    """The usual IRI of a line's predicate, if it is one of those that `meta` elements use; else the empty string."""
    name, _ = _read_rest(line)
    return name if name.startswith(_META) else ""


def _read_rest(line: str) -> tuple[str, str]:
    """A line's predicate, as its usual IRI, and all that follows."""
    predicate, _, rest = line.partition(" ")[2].partition(" ")
    return fold_name(predicate[1:-1]), rest
