"""The user's own XSLT 1.0 stylesheets: an XML document enters, the RDF that its stylesheet makes of it leaves.

A stylesheet declares which documents it is for by attributes of its root element, in the namespace
`urn:rdfspider:xslt`: `root`, the local name of their root element (`*` for any), and `namespace`, that element's
namespace (empty for none). Without `root`, its file name counts (`catalog.xsl` is for `catalog`); without `namespace`,
it is for any namespace.
"""

import json
from pathlib import Path

from rdfspider.config import ExtractConfig, Stylesheet
from rdfspider.errors import UsageError
from rdfspider.extract.dom import expand_entities
from rdfspider.extract.statements import Statements
from rdfspider.extract.untrusted import UntrustedLimits, UntrustedRefusal, run_stylesheet, take_answer
from rdfspider.records import Content

NAMESPACE = "urn:rdfspider:xslt"


def load_stylesheets(folder: Path) -> tuple[Stylesheet, ...]:
    """The stylesheets in a folder, in order of their names; UsageError where one cannot be used."""
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder of stylesheets")
    found: dict[tuple[str, str | None], Stylesheet] = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".xsl", ".xslt")):
        stylesheet = _read_stylesheet(path)
        other = found.setdefault((stylesheet.root, stylesheet.namespace), stylesheet)
        if other is not stylesheet:
            raise UsageError(f"{path} and {other.name} are for the same documents: remove one, or tell them apart")
    if not found:
        raise UsageError(f"{folder} holds no stylesheet: their names end in .xsl or .xslt")
    return tuple(found.values())


def find_stylesheet(content: Content, stylesheets: tuple[Stylesheet, ...]) -> Stylesheet | None:
    """The most specific stylesheet for a document: naming the root element counts more than naming the namespace."""
    fitting = [
        stylesheet
        for stylesheet in stylesheets
        if stylesheet.root in (content.root, "*") and stylesheet.namespace in (content.namespace or "", None)
    ]
    return min(fitting, key=lambda s: (s.root == "*", s.namespace is None), default=None)


def extract_by_stylesheet(content: Content, out: Statements) -> None:
    """Apply the user's stylesheet for this document, if there is one."""
    stylesheet = find_stylesheet(content, out.config.stylesheets) if content.root else None
    if stylesheet is None:
        return
    text, problem = expand_entities(content.text)
    if problem is not None:
        out.problem(problem.code, problem.message)
        if problem.code == "entity-bomb":
            return
    answer = run_stylesheet(stylesheet.body, text, out.base, UntrustedLimits.of(out.config))
    take_answer(answer, stylesheet.name, out)


def _read_stylesheet(path: Path) -> Stylesheet:
    try:
        body = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    answer = run_stylesheet(body, None, "", UntrustedLimits.of(ExtractConfig()))
    if isinstance(answer, UntrustedRefusal):
        raise UsageError(f"{path} is not a usable stylesheet: {answer.message}")
    attributes = json.loads(answer.body)
    root = attributes.get(f"{{{NAMESPACE}}}root", path.stem)
    return Stylesheet(path.name, body, root, attributes.get(f"{{{NAMESPACE}}}namespace"))
