"""The process in which queries run, because a process can be ended: at its limits, or when a query overflows the stack.

`engine.py` starts it and sends it one job after the other. Queries are read and parsed only here. Between two jobs it opens the
newest snapshot in advance.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from pyoxigraph import NamedNode, QuerySolutions, Store

from rdfspider.errors import UnfitError, UnindexedError, UnreadableError, UsageError
from rdfspider.index.quads.snapshots import SnapshotReader
from rdfspider.index.quads.sparql.messages import Found, Job, Reply, ReplyCode
from rdfspider.index.quads.sparql.query_text import (
    VARIABLE,
    TextCall,
    Token,
    check_kind,
    find_calls,
    find_star,
    read_tokens,
    replace_calls,
)
from rdfspider.index.quads.sparql.result_documents import write_document
from rdfspider.processes.confinement import (
    confine_process,
    limit_resources,
    read_address_space_bytes,
    read_resident_bytes,
)
from rdfspider.processes.framing import READY, ParentPipe
from rdfspider.urls import is_valid_iri

_IDLE_S = 0.25
# A worker that has grown by this much is replaced, because freed memory is not always returned to the system.
_GROWTH_BYTES = 512 * 1024 * 1024
_POSITION = re.compile(r"error at (\d+):(\d+): expected (?:one of )?(.*)", re.DOTALL)
# The few of the parser's expectations that are sentences.
_SENTENCE = re.compile(r"(?:^|, )([A-Z]\w* [^,\[\]\"]*[a-z]{3}[^,\[\]\"]*)")


def main() -> None:
    """Answer jobs until the parent closes the pipe. Arguments: `FOLDER PARENT`."""
    confine_process(int(sys.argv[2]))
    pipe = ParentPipe()
    snapshots = SnapshotReader(Path(sys.argv[1]))
    _look_ahead(snapshots)
    pipe.send(READY)
    first_bytes = read_resident_bytes()
    while True:
        while not pipe.wait(_IDLE_S):
            _look_ahead(snapshots)
        message = pipe.receive()
        if message is None:
            return
        reply, body = _answer(msgspec.msgpack.decode(message, type=Job), snapshots, pipe)
        is_last = read_resident_bytes() - first_bytes > _GROWTH_BYTES
        pipe.send(msgspec.msgpack.encode(msgspec.structs.replace(reply, is_last=is_last)))
        if reply.code == ReplyCode.DONE:
            pipe.send(body)
        del body
        if is_last:
            return


def _answer(job: Job, snapshots: SnapshotReader, pipe: ParentPipe) -> tuple[Reply, bytes]:
    try:
        with limit_resources(job.timeout_s, read_address_space_bytes() + job.memory_bytes), snapshots.use() as store:
            return _ask_store(job, store, pipe)
    except UnfitError as error:
        return Reply(ReplyCode.UNFIT, str(error)), b""
    except UnindexedError as error:
        return Reply(ReplyCode.UNINDEXED, str(error)), b""
    except UnreadableError as error:
        return Reply(ReplyCode.UNREADABLE, str(error)), b""
    except UsageError as error:
        return Reply(ReplyCode.USAGE, str(error)), b""
    except SyntaxError as error:
        return Reply(ReplyCode.USAGE, _describe_mistake(str(error), job.query)), b""
    except MemoryError:
        return Reply(ReplyCode.MEMORY), b""
    except Exception as error:
        return Reply(ReplyCode.FAILED, f"{error}"[:500]), b""


def _ask_store(job: Job, store: Store, pipe: ParentPipe) -> tuple[Reply, bytes]:
    tokens = read_tokens(job.query)
    check_kind(job.query, tokens)
    calls = find_calls(job.query, tokens, job.prefixes)
    query = replace_calls(job.query, calls, _ask_words(calls, pipe)) if calls else job.query
    results = store.query(
        _order_columns(query, tokens, job),
        base_iri=job.base or None,
        prefixes=job.prefixes,
        default_graph=[*_read_iris(job.graphs.default)] if job.graphs else None,
        named_graphs=[*_read_iris(job.graphs.named)] if job.graphs else None,
    )
    document = write_document(results, job.formats, job.prefixes, job.max_rows, job.max_bytes)
    reply = Reply(ReplyCode.DONE, kind=document.kind, format=document.format, is_truncated=document.is_truncated)
    return reply, document.body


def _order_columns(query: str, tokens: Sequence[Token], job: Job) -> str:
    """Replace `*` in `SELECT *` with the variables in the order of the query; Oxigraph orders them alphabetically."""
    star = find_star(tokens)
    if star is None:
        return query
    # A query on an empty store shows which variables are visible.
    results = Store().query(query, base_iri=job.base or None, prefixes=job.prefixes)
    seen = {variable.value for variable in results.variables} if isinstance(results, QuerySolutions) else set()
    names = [
        name for name in dict.fromkeys(token.text[1:] for token in tokens if token.kind == VARIABLE) if name in seen
    ]
    # The star comes before all calls, so its position is unchanged.
    return (
        f"{query[: star.start]} ?{' ?'.join(names)} {query[star.end :]}" if names and len(names) == len(seen) else query
    )


def _read_iris(iris: Sequence[str]) -> list[NamedNode]:
    wrong = next((iri for iri in iris if not is_valid_iri(iri)), None)
    if wrong is not None:
        raise UsageError(f"a graph is named by an IRI, which {wrong[:200]!r} is not")
    return [NamedNode(iri) for iri in iris]


def _ask_words(calls: Sequence[TextCall], pipe: ParentPipe) -> Found:
    """Let the parent query the text index."""
    reply = Reply(ReplyCode.WORDS, words=tuple((call.words, call.limit) for call in calls))
    pipe.send(msgspec.msgpack.encode(reply))
    message = pipe.receive()
    if message is None:
        # The parent has cancelled the query, or is gone.
        os._exit(0)
    return msgspec.msgpack.decode(message, type=Found)


def _describe_mistake(message: str, query: str) -> str:
    """The parser's message on one line: where it stopped, and the reason if known."""
    found = _POSITION.match(message)
    if found is None:
        return f"not valid SPARQL: {' '.join(message.split())[:200]}"
    line, column, expected = int(found[1]), int(found[2]), found[3]
    lines = query.split("\n")
    rest = lines[line - 1][column - 1 : column + 29].strip() if line <= len(lines) else ""
    near = f" near {rest!r}" if rest else " at the end" if line >= len(lines) else ""
    why = ""
    if "Prefix not found" in expected:
        why = ": the prefix before it is not declared"
    elif "IRI parsing failed" in expected:
        why = ": the IRI before it is not valid, or relative without a BASE"
    elif sentence := _SENTENCE.search(expected):
        why = f": {sentence[1]}"
    return f"not valid SPARQL: line {line}, column {column}{near}{why}"


def _look_ahead(snapshots: SnapshotReader) -> None:
    try:
        _ = snapshots.store
    except (UsageError, OSError):
        # There is none yet; the next query reports it.
        return
