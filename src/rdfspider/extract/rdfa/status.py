"""The processor graph of RDFa Core 1.1 (section 7.6): what a processor has to say of a page, as statements.

Reports enter while a page is read; triples leave on request. No time is stated, so that equal pages give equal graphs.
"""

from rdfspider.extract.rdfa.contexts import RDFA
from rdfspider.extract.statements import RDF_TYPE, Statements

_DESCRIPTION = "<http://purl.org/dc/terms/description>"
_CONTEXT = f"<{RDFA}context>"

# A report is for a person to read; nobody reads more of one page.
_MAX_REPORTS = 1000


class Status:
    """The reports on one page, each once, in order of appearance."""

    def __init__(self) -> None:
        self._reports: dict[tuple[str, str, str], None] = {}

    def report(self, kind: str, subclass: str, message: str) -> None:
        """Record an `Error` or a `Warning`; `subclass` is the more precise class that RDFa names, or empty."""
        if len(self._reports) < _MAX_REPORTS:
            self._reports[kind, subclass, message] = None

    def write(self, out: Statements) -> None:
        """Add the processor graph to the statements."""
        for kind, subclass, message in self._reports:
            node = out.blank()
            out.add(node, RDF_TYPE, f"<{RDFA}{kind}>")
            if subclass:
                out.add(node, RDF_TYPE, f"<{RDFA}{subclass}>")
            out.add(node, _DESCRIPTION, out.literal(message))
            out.add(node, _CONTEXT, out.page)
