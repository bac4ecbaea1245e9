"""The state of RDFa processing: evaluation contexts, and the local values of an element (RDFa Core 1.1, section 7.5).

Contexts are what elements pass on to those in them; a `LocalElement` lives while its element is processed.
"""

from rdfspider.extract.dom import Element
from rdfspider.extract.rdfa.names import Names

Attributes = dict[str, str | list[str] | None]
"""Attributes as the tree gives them: link types are lists, and attributes without a value may be None."""

Incomplete = tuple[str, str | list[str]]
"""An incomplete triple: forward or reverse with its predicate, or list with the list that waits for members."""


class Lists:
    """A list mapping: the lists that are being collected for one subject, by predicate."""

    __slots__ = ("items", "subject")

    def __init__(self, subject: str) -> None:
        self.subject = subject
        self.items: dict[str, list[str]] = {}


class Context:
    """An evaluation context: what an element passes on to those in it."""

    __slots__ = ("base", "incomplete", "language", "lists", "names", "object", "subject")

    def __init__(
        self,
        subject: str,
        obj: str,
        incomplete: list[Incomplete],
        lists: Lists,
        names: Names,
        language: str | None,
        base: str,
    ) -> None:
        self.subject = subject
        self.object = obj
        self.incomplete = incomplete
        self.lists = lists
        self.names = names
        self.language = language
        self.base = base


class LocalElement:
    """An element being processed: its attributes, and the local values of step 1."""

    __slots__ = (
        "attributes",
        "base",
        "context",
        "incomplete",
        "language",
        "lists",
        "names",
        "node",
        "object",
        "rel",
        "rev",
        "skip",
        "subject",
        "typed",
    )

    def __init__(self, node: Element, attributes: Attributes, context: Context) -> None:
        # Step 1.
        self.node = node
        self.attributes = attributes
        self.context = context
        self.names = context.names
        self.language = context.language
        self.base = context.base
        self.lists = context.lists
        self.rel = tokens_of(attributes["rel"]) if "rel" in attributes else None
        self.rev = tokens_of(attributes["rev"]) if "rev" in attributes else None
        self.skip = False
        self.subject: str = ""
        self.object: str | None = None
        self.typed: str | None = None
        self.incomplete: list[Incomplete] = []


def tokens_of(value: str | list[str] | None) -> list[str]:
    """The tokens of an attribute that holds a list."""
    return value if isinstance(value, list) else (value or "").split()


def text_value(value: str | list[str] | None) -> str:
    """An attribute as one text."""
    return " ".join(value) if isinstance(value, list) else value or ""
