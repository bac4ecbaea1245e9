"""The one table of namespaces and prefixes, for typed and shown names, SPARQL, Turtle, RDFa, `meta` elements and feeds.

`dc:` is http://purl.org/dc/elements/1.1/ and `dcterms:` is http://purl.org/dc/terms/, as DCMI defines them, in SPARQL and all
output. One specification differs: in RDFa's initial context `dc` equals `dcterms`. A search for `dc:title` may mean either, so
it finds both.
"""

KNOWN_AS = {
    "http://schema.org/": ("schema", "schema.org"),
    "https://schema.org/": ("schema",),
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": ("rdf",),
    "http://www.w3.org/2000/01/rdf-schema#": ("rdfs",),
    "http://www.w3.org/2001/XMLSchema#": ("xsd",),
    "http://www.w3.org/2002/07/owl#": ("owl",),
    "http://www.w3.org/2004/02/skos/core#": ("skos",),
    "http://www.w3.org/2006/vcard/ns#": ("vcard",),
    "http://www.w3.org/ns/dcat#": ("dcat",),
    "http://www.w3.org/ns/prov#": ("prov",),
    "http://www.w3.org/ns/org#": ("org",),
    "http://www.w3.org/ns/rdfa#": ("rdfa",),
    "http://www.w3.org/ns/shacl#": ("sh",),
    "http://www.w3.org/1999/xhtml/vocab#": ("xhv",),
    "http://www.w3.org/2002/12/cal/icaltzd#": ("ical",),
    "http://www.w3.org/2003/01/geo/wgs84_pos#": ("geo",),
    "https://www.w3.org/ns/activitystreams#": ("as",),
    "http://www.opengis.net/ont/geosparql#": ("geosparql",),
    "http://xmlns.com/foaf/0.1/": ("foaf",),
    "http://purl.org/dc/elements/1.1/": ("dc", "dc11"),
    "http://purl.org/dc/terms/": ("dcterms", "dct", "dc"),
    "http://purl.org/dc/dcmitype/": ("dctype",),
    "http://purl.org/rss/1.0/": ("rss",),
    "http://purl.org/rss/1.0/modules/content/": ("content",),
    "http://purl.org/goodrelations/v1#": ("gr", "goodrelations"),
    "http://purl.org/ontology/bibo/": ("bibo",),
    "http://purl.org/ontology/mo/": ("mo",),
    "http://purl.org/vocab/bio/0.1/": ("bio",),
    "http://purl.org/vocab/frbr/core#": ("frbr",),
    "http://purl.org/stuff/rev#": ("rev",),
    "http://rdfs.org/sioc/ns#": ("sioc",),
    "http://rdfs.org/sioc/types#": ("sioct",),
    "http://rdfs.org/ns/void#": ("void",),
    "http://creativecommons.org/ns#": ("cc",),
    "http://ogp.me/ns#": ("og", "opengraph"),
    "https://ogp.me/ns#": ("og",),
    "http://ogp.me/ns/article#": ("article",),
    "http://ogp.me/ns/book#": ("book",),
    "http://ogp.me/ns/fb#": ("fb",),
    "http://ogp.me/ns/music#": ("music",),
    "http://ogp.me/ns/product#": ("product",),
    "http://ogp.me/ns/profile#": ("profile",),
    "http://ogp.me/ns/video#": ("video",),
    "https://dev.twitter.com/cards#": ("twitter",),
    "http://usefulinc.com/ns/doap#": ("doap",),
    "http://data-vocabulary.org/": ("dv",),
    "http://rdf.data-vocabulary.org/#": ("dv",),
    "http://dbpedia.org/ontology/": ("dbo", "dbpedia"),
    "http://www.cidoc-crm.org/cidoc-crm/": ("crm",),
    "http://www.wikidata.org/entity/": ("wd",),
    "http://www.wikidata.org/prop/direct/": ("wdt",),
    "http://microformats.org/wiki/": ("mf", "mf2", "microformats"),
}
"""The prefixes of each namespace, the preferred one first. A prefix of several namespaces means the first of them wherever it
can mean only one."""

NAMESPACES: dict[str, tuple[str, ...]] = {}
"""The namespaces that each prefix may mean, the usual one first."""
for _namespace, _prefixes in KNOWN_AS.items():
    for _prefix in _prefixes:
        NAMESPACES[_prefix] = (*NAMESPACES.get(_prefix, ()), _namespace)

PREFIXES = {prefix: namespaces[0] for prefix, namespaces in NAMESPACES.items() if "." not in prefix}
"""The namespace of each prefix."""

TEXT_NAMESPACE = "urn:rdfspider:text:"
"""The namespace of `query`, `score` and `limit` in SPARQL. It has no `#`, which could begin a comment in a query."""
QUERY_PREFIXES = PREFIXES | {"text": TEXT_NAMESPACE}
"""The prefixes that a SPARQL query may use without declaring them; its own declarations win."""


def take_prefixes(names: str) -> dict[str, str]:
    """Return the namespaces of some prefixes, given as names separated by spaces."""
    return {name: PREFIXES[name] for name in names.split()}


SCHEMA, RDF, RDFS, XSD = (PREFIXES[name] for name in ("schema", "rdf", "rdfs", "xsd"))
DC, DCTERMS, FOAF, SKOS = (PREFIXES[name] for name in ("dc", "dcterms", "foaf", "skos"))
OG, OWL, VCARD = (PREFIXES[name] for name in ("og", "owl", "vcard"))
PROV, RDFA, VOID, XHV = (PREFIXES[name] for name in ("prov", "rdfa", "void", "xhv"))

META_PREFIXES = take_prefixes("og article book fb music product profile video twitter dc dcterms") | {
    "business": "http://ogp.me/ns/business#",
    "place": "http://ogp.me/ns/place#",
    "website": "http://ogp.me/ns/website#",
}
"""What is meant by the prefixes of `meta` elements, whether declared or not."""

TURTLE_PREFIXES = take_prefixes("schema og dc dcterms foaf rdf rdfs xsd")
"""The prefixes that Turtle and TriG documents declare."""

RDFA_INITIAL_CONTEXT = take_prefixes(
    "as cc dc11 dcat dcterms foaf gr ical og org owl prov rdf rdfa rdfs rev schema sioc skos vcard void xhv xsd"
) | {
    "": XHV,
    # The specification makes dc and dcterms equal here, and nowhere else.
    "dc": DCTERMS,
    "csvw": "http://www.w3.org/ns/csvw#",
    "ctag": "http://commontag.org/ns#",
    "dqv": "http://www.w3.org/ns/dqv#",
    "duv": "https://www.w3.org/ns/duv#",
    "grddl": "http://www.w3.org/2003/g/data-view#",
    "jsonld": "http://www.w3.org/ns/json-ld#",
    "ldp": "http://www.w3.org/ns/ldp#",
    "ma": "http://www.w3.org/ns/ma-ont#",
    "oa": "http://www.w3.org/ns/oa#",
    "odrl": "http://www.w3.org/ns/odrl/2/",
    "qb": "http://purl.org/linked-data/cube#",
    "rif": "http://www.w3.org/2007/rif#",
    "rr": "http://www.w3.org/ns/r2rml#",
    "sd": "http://www.w3.org/ns/sparql-service-description#",
    "skosxl": "http://www.w3.org/2008/05/skos-xl#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "time": "http://www.w3.org/2006/time#",
    "v": "http://rdf.data-vocabulary.org/#",
    "wdr": "http://www.w3.org/2007/05/powder#",
    "wdrs": "http://www.w3.org/2007/05/powder-s#",
    "xml": "http://www.w3.org/XML/1998/namespace",
}
"""The W3C's initial context: prefixes that RDFa 1.1 pages may use without declaring them."""

XSD_INTEGERS = frozenset(
    XSD + name
    for name in (
        "integer int long short byte nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger"
        " unsignedInt unsignedLong unsignedShort unsignedByte"
    ).split()
)
XSD_FRACTIONS = frozenset(XSD + name for name in ("decimal", "double", "float"))
XSD_NUMBERS = XSD_INTEGERS | XSD_FRACTIONS
"""The datatypes of numbers."""
