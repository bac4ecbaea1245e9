"""The statements of @role (Role Attribute 1.0, section 4): what an element is for.

Attributes enter, triples leave. Nearly all roles of real pages are plain words of ARIA, which need no context.
"""

import re

from rdfspider.extract.dom import Element
from rdfspider.extract.rdfa.expansion import Triple
from rdfspider.extract.rdfa.host_languages import XHV, Host
from rdfspider.extract.rdfa.names import PageNames
from rdfspider.extract.rdfa.state import Context
from rdfspider.extract.statements import Statements

_ROLE = f"<{XHV}role>"
_PLAIN_ID = re.compile(r"[A-Za-z0-9_\-]{1,200}")


class Roles:
    """Adds the roles of one page's elements to its triples; `initial` is the page's own evaluation context."""

    def __init__(self, triples: list[Triple], out: Statements, host: Host, page: PageNames, initial: Context) -> None:
        self._triples = triples
        self._out = out
        self._host = host
        self._page = page
        self._initial = initial

    def add_plain(self, element: Element, role: str) -> bool:
        """Add the roles of an element that says nothing else, and tell whether it was one: it needs no context."""
        if (
            ":" in role
            or element.attr("property") is not None
            or element.attr("typeof") is not None
            or element.attr("rel") is not None
            or element.attr("rev") is not None
            or element.attr("vocab") is not None
            or self._host.xml_base
        ):
            return False
        self.add(role, element.attr("id") or "", self._initial)
        return True

    def add(self, role: str, name: str, context: Context) -> None:
        """Add what is said of the element with this @id, or of something unnamed."""
        tokens = role.split()
        if self._host.rdfa10 or not tokens:
            return
        if not name:
            subject = self._out.blank()
        elif context is self._initial and _PLAIN_ID.fullmatch(name):
            subject = f"{context.object[:-1]}#{name}>"
        else:
            subject = self._page.reference(f"#{name}", context.base)
        for token in tokens:
            term = context.names.role(token)
            if term is not None:
                self._triples.append((subject, _ROLE, term))
