"""XML becomes a tree: text enters, a tree leaves whose names are as they are written; expat parses."""

from xml.parsers import expat

from rdfspider.extract.second_parser.nodes import (
    CData,
    Comment,
    Doctype,
    Document,
    Element,
    Namespace,
    Node,
    ProcessingInstruction,
    Text,
)

_PREDECLARED = frozenset({"xml", "xmlns"})


class HTMLParseError(ValueError):
    """The text is no well-formed XML; says why and where. The name is that of turbohtml's exception."""


def parse_xml(text: str) -> Document:
    """The tree of a text without entity declarations; raises HTMLParseError where it is not well-formed."""
    builder = _Builder()
    try:
        builder.parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        reason = f"{expat.ErrorString(error.code)} at line {error.lineno}, column {error.offset}"
        raise HTMLParseError(reason) from None
    builder.document.close()
    return builder.document


class _Builder:
    """Builds the tree from expat's events."""

    def __init__(self) -> None:
        self.document = Document()
        self._nodes = self.document.nodes
        self._open: list[Node] = [self.document]
        self._prefixes = [_PREDECLARED]
        self._text: list[str] = []
        # Without a namespace separator, expat leaves prefixes in names; whether they are declared is checked here.
        self.parser = parser = expat.ParserCreate("utf-8")
        parser.buffer_text = True
        parser.StartElementHandler = self._start_element
        parser.EndElementHandler = self._end_element
        parser.CharacterDataHandler = self._text.append
        parser.StartCdataSectionHandler = self._end_text
        parser.EndCdataSectionHandler = self._end_cdata
        parser.CommentHandler = self._add_comment
        parser.ProcessingInstructionHandler = self._add_instruction
        parser.StartDoctypeDeclHandler = self._add_doctype

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        self._end_text()
        declared = frozenset(name[6:] for name in attributes if name.startswith("xmlns:"))
        known = self._prefixes[-1] | declared if declared else self._prefixes[-1]
        for name in (tag, *attributes):
            prefix, colon, _ = name.partition(":")
            if colon and prefix not in known:
                line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
                raise HTMLParseError(f"undeclared prefix {prefix[:60]!r} at line {line}, column {column}")
        self._open.append(Element(self._open[-1], self._nodes, tag, attributes, Namespace.HTML))
        self._prefixes.append(known)

    def _end_element(self, _tag: str) -> None:
        self._end_text()
        self._prefixes.pop()
        self._open.pop().close()

    def _end_text(self) -> None:
        if self._text:
            Text(self._open[-1], self._nodes, "".join(self._text))
            self._text.clear()

    def _end_cdata(self) -> None:
        CData(self._open[-1], self._nodes, "".join(self._text))
        self._text.clear()

    def _add_comment(self, data: str) -> None:
        self._end_text()
        Comment(self._open[-1], self._nodes, data)

    def _add_instruction(self, target: str, data: str) -> None:
        self._end_text()
        ProcessingInstruction(self._open[-1], self._nodes, target, data)

    def _add_doctype(self, _name: str, _system_id: str | None, public_id: str | None, _has_subset: int) -> None:
        Doctype(self._open[-1], self._nodes, public_id or "")
