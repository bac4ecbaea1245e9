"""SHACL: shapes of the user's own and a page's statements enter, Findings leave. By pySHACL, with the extra `rdfspider[shacl]`.

All variants of schema.org's namespace are one, in shapes and in statements.
"""

import logging
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rdfspider.errors import UsageError
from rdfspider.formats import merge_nquads
from rdfspider.validate.findings import ERROR, HINT, WARNING, Finding
from rdfspider.vocabulary.labels import RDF_TYPE
from rdfspider.vocabulary.names import find_short_name, shorten_iri
from rdfspider.vocabulary.prefixes import PREFIXES, SCHEMA

_VARIANTS = re.compile(r"<https?://(?:www\.)?schema\.org/")
_GRAPH = re.compile(r" (?:<[^<>\s]*>|_:\S+) \.$", re.MULTILINE)
_VALUES_ON = re.compile(r"(?<= values) on .*->.*")
"""How pySHACL's own messages on too few or many values name the thing and the path, which findings have apart."""
_SHACL = PREFIXES["sh"]
_SEVERITIES = {f"{_SHACL}Violation": ERROR, f"{_SHACL}Warning": WARNING, f"{_SHACL}Info": HINT}
_MAX_RESULTS = 1_000


class Shapes:
    """The shapes of some files; UsageError if they cannot be read, or pySHACL is not installed."""

    def __init__(self, paths: Sequence[str]) -> None:
        try:
            import pyshacl
            from rdflib import Graph
        except ImportError as error:
            raise UsageError("--shapes needs pySHACL: pip install 'rdfspider[shacl]'") from error
        self._validate: Any = pyshacl.validate
        self._graph_class: Any = Graph
        lines: list[str] = []
        for path in paths:
            if not Path(path).is_file():
                raise UsageError(f"--shapes {path}: there is no such file")
            try:
                lines.append(Graph().parse(Path(path)).serialize(format="nt"))
            except Exception as error:  # rdflib raises what its parsers raise
                raise UsageError(f"--shapes {path}: it cannot be read as RDF: {_say(error)}") from error
        self._shapes = self._parse("\n".join(lines))
        self._try_shapes()

    def check(self, url: str, statements: Mapping[str, str]) -> Iterator[Finding]:
        """Yield what the shapes do not allow, over the statements of all syntaxes."""
        data = self._parse(_GRAPH.sub(" .", merge_nquads(statements.values())))
        try:
            results = self._run(data)
        except (
            Exception
        ) as error:  # pySHACL raises what its parts raise; some shapes are wrong only where there is data
            yield Finding(ERROR, "shape", f"the page could not be checked by the SHACL shapes: {_say(error)}", url)
            return
        sh = _Terms(results)
        for at, result in enumerate(sorted(sh.subjects("type", "ValidationResult"), key=str)):
            if at >= _MAX_RESULTS:
                return
            yield _read_result(sh, result, data, url)

    def _try_shapes(self) -> None:
        """Raise UsageError for shapes that cannot be used, by checking something of each class that they are about."""
        targets = self._shapes.query(f"SELECT DISTINCT ?t {{ ?s <{_SHACL}targetClass> ?t FILTER(isIRI(?t)) }}")
        lines = [f"<urn:x> <{RDF_TYPE}> {target.n3()} ." for (target,) in targets]
        try:
            self._run(self._parse("\n".join(lines)))
        except Exception as error:  # pySHACL raises what its parts raise
            raise UsageError(f"the SHACL shapes cannot be used: {_say(error)}") from error

    def _run(self, data: Any) -> Any:
        # pySHACL logs to stderr what it also raises, by a logger and a handler that it makes anew each time.
        before = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        try:
            with warnings.catch_warnings(action="ignore"):
                _, results, _ = self._validate(data, shacl_graph=self._shapes, inference="none", allow_warnings=True)
        finally:
            logging.disable(before)
        return results

    def _parse(self, triples: str) -> Any:
        return self._graph_class().parse(data=_VARIANTS.sub(f"<{SCHEMA}", triples), format="nt")


def _say(error: Exception) -> str:
    """Say in one line what was raised."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


class _Terms:
    """Reads a graph of results by short names."""

    def __init__(self, graph: Any) -> None:
        from rdflib import RDF, Namespace

        self._graph, self._shacl, self._type = graph, Namespace(_SHACL), RDF.type

    def subjects(self, predicate: str, name: str) -> Iterator[Any]:
        yield from self._graph.subjects(
            self._type if predicate == "type" else self._shacl[predicate], self._shacl[name]
        )

    def find(self, subject: Any, predicate: str) -> Any:
        return self._graph.value(subject, self._shacl[predicate])


def _read_result(sh: _Terms, result: Any, data: Any, url: str) -> Finding:
    from rdflib import RDF, BNode

    focus, path, value = (sh.find(result, name) for name in ("focusNode", "resultPath", "value"))
    kind = data.value(focus, RDF.type) if focus is not None else None
    name = _name_term(str(kind)) if kind is not None else ""
    step = _name_term(str(path)) if path is not None and not isinstance(path, BNode) else ""
    shown = "" if value is None or isinstance(value, BNode) else str(value)[:200]
    message = str(
        sh.find(result, "resultMessage") or shorten_iri(str(sh.find(result, "sourceConstraintComponent") or ""))
    )
    return Finding(
        _SEVERITIES.get(str(sh.find(result, "resultSeverity")), ERROR),
        "shape",
        _VALUES_ON.sub("", " ".join(message.split()))[:500],
        url,
        path=".".join(filter(None, (name, step))),
        type=name,
        value=shown,
        node=focus.n3() if focus is not None else "",
    )


def _name_term(iri: str) -> str:
    short = find_short_name(iri)
    return iri[-len(short) :] if iri.lower().endswith(short) else short
