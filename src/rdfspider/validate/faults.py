"""What the Problems of extraction mean: a code enters; its severity, meaning and advice for authors leave.

The codes come from `extract/` and `detect/`.
"""

from typing import NamedTuple

from rdfspider.validate.findings import ERROR, HINT, WARNING, Severity


class Fault(NamedTuple):
    """A kind of broken markup."""

    severity: Severity
    meaning: str
    advice: str


_VALIDATE_JSON = "Let a program write the JSON, and test it with a JSON parser."
_TOO_MUCH = "Say less on one page, or spread it over several."
_FAULTS = {
    "json-invalid": Fault(ERROR, "A script of JSON-LD is no JSON, and nothing of it was read.", _VALIDATE_JSON),
    "json-repaired": Fault(
        WARNING, "A script of JSON-LD is broken JSON; it was read after a repair, which others may not try.", _VALIDATE_JSON
    ),
    "json-empty": Fault(HINT, "A script of JSON-LD is empty.", "Fill it, or leave it out."),
    "json-too-deep": Fault(ERROR, "JSON-LD is nested so deep that it was not read.", "Nest less: give things an @id."),
    "jsonld-error": Fault(
        ERROR, "JSON-LD breaks a rule of the language, and what it concerns was left out.", "Mend what the example names."
    ),
    "jsonld-too-large": Fault(ERROR, "Values of JSON-LD were left out because they would be too large.", _TOO_MUCH),
    "context-missing": Fault(
        ERROR, "JSON-LD has no @context, so its words have no meaning.", 'Begin with "@context": "https://schema.org".'
    ),
    "context-repaired": Fault(
        WARNING, "The @context of JSON-LD is misspelt or missing, and was read as what was meant.", 'Write "https://schema.org".'
    ),
    "orphan-item": Fault(
        WARNING,
        "An itemprop of microdata is in no item, so nothing has that property.",
        "Put it inside an element with itemscope, or name it in an itemref.",
    ),
    "itemref-unknown": Fault(WARNING, "An itemref of microdata names an id that no element has.", "Mend the id."),
    "item-cycle": Fault(ERROR, "Items of microdata contain each other.", "Take one of the itemrefs away."),
    "reverse-literal": Fault(
        WARNING, "An itemprop-reverse of microdata has a text, which can have no properties.", "Point at a thing instead."
    ),
    "iri-repaired": Fault(
        WARNING, "An address has characters that none may have; they were escaped.", "Escape blanks, quotes and brackets."
    ),
    "iri-dropped": Fault(ERROR, "What should be an address is none, and was left out.", "Write a whole, valid address."),
    "iri-too-long": Fault(ERROR, "An address is so long that it was left out.", "Leave out what data: and tracking add."),
    "language-dropped": Fault(
        WARNING, "A language is no language tag; the text was kept without it.", "Write a tag such as en or pt-BR."
    ),
    "literal-cut": Fault(WARNING, "A text is so long that it was cut.", "State less than a whole document as a value."),
    "xml-literal-dropped": Fault(ERROR, "A piece of XML is too long to be a value.", "State less of it."),
    "base-ignored": Fault(WARNING, "The base element of the page has no address to start from.", "Mend its href."),
    "bad-bytes": Fault(
        WARNING, "Some bytes do not fit the page's encoding, and became question marks.", "Send UTF-8, and say so."
    ),
    "body-cut": Fault(WARNING, "The page is longer than what is read of one.", _TOO_MUCH),
    "not-well-formed": Fault(WARNING, "A document of XML is not well formed.", "Let a program write the XML."),
    "syntax-error": Fault(ERROR, "A document of RDF has a mistake, and the rest was left out.", "Test it with a parser."),
    "invalid-rdf": Fault(WARNING, "A feed says that it is RDF, and is not.", "Test it with a parser."),
    "invalid-terms": Fault(WARNING, "A document of RDF has terms that are not valid.", "Escape addresses in it."),
    "unknown-syntax": Fault(WARNING, "Data is in a syntax of RDF that is not known.", "Offer Turtle or JSON-LD as well."),
    "unknown-type": Fault(WARNING, "Nothing tells what the page is.", "Send a Content-Type."),
    "no-feed": Fault(WARNING, "What should be a feed is none.", "Test it with a validator of feeds."),
    "vocabulary-missing": Fault(HINT, "A vocabulary of RDFa could not be had.", "Nothing, if it is there for others."),
    "vocabulary-unreadable": Fault(WARNING, "A vocabulary of RDFa cannot be read.", "Mend it, or name another."),
    "process-died": Fault(ERROR, "Reading the page ended its process.", "Please tell rdfspider's authors of the page."),
    "second-parser": Fault(HINT, "Another parser had to read the page.", "Please tell rdfspider's authors of the page."),
    "internal-error": Fault(HINT, "rdfspider itself failed here.", "Nothing; please tell its authors of the example."),
    **dict.fromkeys(
        ("too-many-quads", "too-many-triples", "too-many-links", "too-many-errors", "too-deep", "too-many-attributes",
         "too-many-prefixes", "too-many-tags", "statements-cut"),
        Fault(WARNING, "There is more on the page than is read of one.", _TOO_MUCH),
    ),
}  # fmt: skip
"""By code."""


def explain_code(code: str) -> Fault:
    """Explain a code; an unknown one gets a general warning."""
    return _FAULTS.get(code) or Fault(
        WARNING, "Something could not be taken as it is.", "Look at an example: its problems tell what it was."
    )
