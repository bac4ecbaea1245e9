"""What the demo asks at its end of what it has crawled: by words, or in SPARQL."""

from typing import NamedTuple

RESULTS_SHOWN = 2
"""Of each search."""


class Question(NamedTuple):
    """One question, and why somebody would ask so. Either words or SPARQL."""

    why: str
    words: str = ""
    type: str = ""
    ontology: str = ""
    sparql: str = ""

    @property
    def arguments(self) -> list[str]:
        """What a person would type after `rdfspider`, but for the folder."""
        if self.sparql:
            return ["query", self.sparql]
        flags = {"--type": self.type, "--ontology": self.ontology}
        given = (part for pair in flags.items() if pair[1] for part in pair)
        return ["search", self.words, *given, "--limit", str(RESULTS_SHOWN)]


QUESTIONS = (
    Question("By words; what several pages say of a thing is one result", "echoes"),
    Question("Only people", "corridane", type="Person"),
    Question("Only one ontology, and a word in one property", "author:corridane", ontology="bibo"),
    Question(
        "In SPARQL, over the merge of all pages",
        sparql="SELECT DISTINCT (STR(?name) AS ?book) (STR(?by) AS ?author) "
        "{ ?b a bibo:Book ; schema:name ?name ; schema:author/schema:name ?by } ORDER BY ?book LIMIT 3",
    ),
    Question(
        "Words within SPARQL: the books of an author whose name is like this, and which page says so",
        sparql="SELECT DISTINCT (STR(?name) AS ?title) ?page "
        "{ SERVICE <urn:rdfspider:text> { ?author text:query 'corridane type:person' } "
        "GRAPH ?page { ?book schema:author ?author ; schema:name ?name } } ORDER BY ?title LIMIT 3",
    ),
)
