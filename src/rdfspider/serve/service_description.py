"""The address of the server in, what it says of itself in RDF out: the SPARQL service, and the data in VoID."""

from collections.abc import Iterable, Iterator

import pyoxigraph
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from rdfspider.errors import UnindexedError
from rdfspider.formats import PREFIXES
from rdfspider.index.quads.provenance import VOCABULARY
from rdfspider.index.quads.selection import RDF_TYPE
from rdfspider.index.quads.sparql.result_documents import RDF_FORMATS, drop_prefixes
from rdfspider.serve.site import Site
from rdfspider.vocabulary.terms import FETCHES_GRAPH

_SD, _VOID, _FORMATS = (
    "http://www.w3.org/ns/sparql-service-description#",
    "http://rdfs.org/ns/void#",
    "http://www.w3.org/ns/formats/",
)
_DCTERMS, _FOAF = "http://purl.org/dc/terms/", "http://xmlns.com/foaf/0.1/"
_PREFIXES = {"sd": _SD, "void": _VOID, "formats": _FORMATS, "dcterms": _DCTERMS, "foaf": _FOAF, "rdfspider": VOCABULARY}
_RESULT_FORMATS = ("SPARQL_Results_JSON", "SPARQL_Results_XML", "SPARQL_Results_CSV", "SPARQL_Results_TSV")
_TRIPLE_FORMATS = ("Turtle", "N-Triples", "RDF_XML", "JSON-LD")
_TEXT_SERVICE = NamedNode("urn:rdfspider:text")
_NAMES_TOLD = 1000
# It takes a fifth of a second.
_TRIPLES_COUNTED = 200_000


def describe_service(root: str) -> Iterator[Triple]:
    """What the endpoint can do, as SPARQL 1.1 Service Description has it; `root` is the address of the server."""
    service, dataset, fetches = NamedNode(f"{root}/sparql#service"), BlankNode("dataset"), BlankNode("fetches")
    data = _name_data(root)
    yield Triple(service, RDF_TYPE, _sd("Service"))
    yield Triple(service, _sd("endpoint"), NamedNode(f"{root}/sparql"))
    yield Triple(service, _sd("supportedLanguage"), _sd("SPARQL11Query"))
    for name in (*_RESULT_FORMATS, *_TRIPLE_FORMATS):
        yield Triple(service, _sd("resultFormat"), NamedNode(_FORMATS + name))
    # Another SERVICE is not asked, so that it is no federated query; yet whoever reads this may like to know.
    yield Triple(service, _sd("feature"), _TEXT_SERVICE)
    yield Triple(service, _sd("defaultEntailmentRegime"), NamedNode("http://www.w3.org/ns/entailment/Simple"))
    yield Triple(service, _sd("defaultDataset"), dataset)
    yield Triple(_TEXT_SERVICE, RDF_TYPE, _sd("Feature"))
    yield Triple(dataset, RDF_TYPE, _sd("Dataset"))
    yield Triple(dataset, _sd("defaultGraph"), data)
    # Every page is a named graph as well; there are too many of them to be listed.
    yield Triple(dataset, _sd("namedGraph"), fetches)
    yield Triple(data, RDF_TYPE, _sd("Graph"))
    yield Triple(data, RDF_TYPE, NamedNode(f"{_VOID}Dataset"))
    yield Triple(data, NamedNode(f"{_FOAF}isPrimaryTopicOf"), _name_description(root))
    yield Triple(fetches, RDF_TYPE, _sd("NamedGraph"))
    yield Triple(fetches, _sd("name"), NamedNode(FETCHES_GRAPH))


def describe_data(site: Site, root: str) -> Iterator[Triple]:
    """The dataset in VoID: where it can be asked, how much there is, and of which classes and properties."""
    data, description = _name_data(root), _name_description(root)
    yield Triple(description, RDF_TYPE, NamedNode(f"{_VOID}DatasetDescription"))
    yield Triple(description, NamedNode(f"{_FOAF}primaryTopic"), data)
    yield Triple(data, RDF_TYPE, NamedNode(f"{_VOID}Dataset"))
    yield Triple(data, NamedNode(f"{_DCTERMS}title"), Literal("Structured data of the web, collected by rdfspider"))
    yield Triple(
        data,
        NamedNode(f"{_DCTERMS}description"),
        Literal(
            "The merge of what all crawled pages state; each page is also a named graph, called by its URL. "
            "`rdfspider export` writes all of it to a file."
        ),
    )
    yield Triple(data, NamedNode(f"{_FOAF}homepage"), NamedNode(f"{root}/"))
    yield Triple(data, NamedNode(f"{_VOID}sparqlEndpoint"), NamedNode(f"{root}/sparql"))
    yield Triple(data, NamedNode(f"{_VOID}uriLookupEndpoint"), NamedNode(f"{root}/entity?iri="))
    for name in _TRIPLE_FORMATS:
        yield Triple(data, NamedNode(f"{_VOID}feature"), NamedNode(_FORMATS + name))
    try:
        statistics = site.indexes.statistics(_NAMES_TOLD)
        merge = site.indexes.count_merge(_TRIPLES_COUNTED)
    except UnindexedError:
        # Nothing is indexed yet, which is no mistake of whoever asks.
        return
    yield from statistics.describe(data, merge)


def write_description(triples: Iterable[Triple], format_name: str) -> bytes:
    """Triples, each once, in a format of `index/quads/sparql/result_documents.py`."""
    prefixes = _PREFIXES | {"xsd": PREFIXES["xsd"]} if format_name in ("turtle", "rdfxml") else None
    body = pyoxigraph.serialize(dict.fromkeys(triples), format=RDF_FORMATS[format_name], prefixes=prefixes) or b""
    return drop_prefixes(body) if format_name == "turtle" else body


def _name_data(root: str) -> NamedNode:
    return NamedNode(f"{root}/.well-known/void#data")


def _name_description(root: str) -> NamedNode:
    return NamedNode(f"{root}/.well-known/void")


def _sd(name: str) -> NamedNode:
    return NamedNode(_SD + name)
