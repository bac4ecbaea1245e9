"""Property copying (HTML+RDFa 1.1, section 3.5): resources take over the properties of the patterns that they refer to.

A list of triples enters; one leaves in which patterns that are referred to are gone and their properties are where they
were asked for.
"""

from collections import deque
from collections.abc import Iterator

from rdfspider.extract.rdfa.contexts import RDFA
from rdfspider.extract.statements import RDF_TYPE

Triple = tuple[str, str, str]

COPY = f"<{RDFA}copy>"
PATTERN = f"<{RDFA}Pattern>"


def copy_patterns(triples: list[Triple], max_triples: int) -> list[Triple]:
    """The triples after copying; patterns may refer to each other, in circles too. Stops at `max_triples`."""
    patterns = {s for s, p, o in triples if p == RDF_TYPE and o == PATTERN}
    references = {o for s, p, o in triples if p == COPY} & patterns
    if not references:
        return triples
    own: dict[str, list[tuple[str, str]]] = {pattern: [] for pattern in references}
    wanted: dict[str, dict[str, None]] = {pattern: {} for pattern in references}
    for s, p, o in triples:
        if s in own:
            if p == COPY and o in own:
                wanted[s][o] = None
            elif (p, o) != (RDF_TYPE, PATTERN):
                own[s].append((p, o))
    copied: list[Triple] = []
    steps = 0
    for s, p, o in triples:
        if s in own:
            continue
        if p != COPY or o not in own:
            copied.append((s, p, o))
            continue
        for pattern in _reachable(o, wanted):
            steps += 1
            copied.extend((s, p, o) for p, o in own[pattern])
            if len(copied) + steps > max_triples:
                return copied
    return copied


def _reachable(start: str, wanted: dict[str, dict[str, None]]) -> Iterator[str]:
    """A pattern and those that it copies from in turn, each once, nearest first."""
    found = {start}
    todo = deque([start])
    while todo:
        pattern = todo.popleft()
        yield pattern
        for other in wanted[pattern]:
            if other not in found:
                found.add(other)
                todo.append(other)
