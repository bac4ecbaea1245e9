"""The second parser: the part of turbohtml's interface that extraction uses, for processes in which turbohtml is not to be used.

`extract/dom.py` takes it where turbohtml is missing, and in processes that read a page again that has killed another. justhtml,
which is in plain Python, so that no page can crash it, parses HTML (`html_trees.py`); expat parses XML (`xml_trees.py`). Both
pass the conformance suites, and extraction takes about thirteen times as long. The text of pages is laid out more simply.
"""

from rdfspider.extract.second_parser.html_trees import parse
from rdfspider.extract.second_parser.markup import Html
from rdfspider.extract.second_parser.nodes import CData, Comment, Document, Element, Node, Text
from rdfspider.extract.second_parser.xml_trees import HTMLParseError, parse_xml

__all__ = ["CData", "Comment", "Document", "Element", "HTMLParseError", "Html", "Node", "Text", "parse", "parse_xml"]
