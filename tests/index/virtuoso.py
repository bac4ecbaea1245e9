"""A real Virtuoso on loopback ports, with a database of its own in a temporary folder. For tests only."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from pyoxigraph import RdfFormat, parse

from ports import find_free_ports, wait_for_ports

CONFIG = """
[Database]
DatabaseFile = virtuoso.db
ErrorLogFile = virtuoso.log
LockFile = virtuoso.lck
TransactionFile = virtuoso.trx
xa_persistent_file = virtuoso.pxa
FileExtend = 200
[TempDatabase]
DatabaseFile = virtuoso-temp.db
TransactionFile = virtuoso-temp.trx
[Parameters]
ServerPort = 127.0.0.1:{sql}
DisableUnixSocket = 1
CheckpointInterval = 0
NumberOfBuffers = 4000
MaxDirtyBuffers = 3000
CaseMode = 2
DirsAllowed = .
[HTTPServer]
ServerPort = 127.0.0.1:{http}
ServerRoot = .
ServerThreads = 10
MaxKeepAlives = 10
KeepAliveTimeout = 2
[SPARQL]
ResultSetMaxRows = 100000
"""
USER, PASSWORD = "spider", "pass word:@/"


@dataclass
class Virtuoso:
    port: int
    sql_port: int

    def read_graph(self, graph: str) -> set[str]:
        """Its triples as N-Triples writes them; anybody may read."""
        query = f"CONSTRUCT {{ ?s ?p ?o }} WHERE {{ GRAPH <{graph}> {{ ?s ?p ?o }} }}"
        parameters = urlencode({"query": query, "format": "text/plain"})
        with urlopen(f"http://127.0.0.1:{self.port}/sparql?{parameters}", timeout=60) as answer:
            return {str(triple) for triple in parse(answer.read(), format=RdfFormat.N_TRIPLES)}

    def run_sql(self, *statements: str) -> None:
        isql = shutil.which("isql-vt")
        assert isql is not None, "isql-vt, which comes with Virtuoso, is missing"
        command = [isql, f"127.0.0.1:{self.sql_port}", "dba", "dba", *(f"exec={text}" for text in statements)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
        assert "*** Error" not in done.stdout + done.stderr, done.stdout + done.stderr


@contextmanager
def run_virtuoso(folder: Path) -> Iterator[Virtuoso]:
    """Virtuoso with a user who may change graphs, until the end of the block."""
    program = shutil.which("virtuoso-t")
    if program is None:
        missing = "virtuoso-t is missing: apt-get install virtuoso-opensource"
        if os.environ.get("CI"):
            pytest.fail(f"{missing}; CI insists on it")
        pytest.skip(missing)
    server = Virtuoso(*find_free_ports(2))
    (folder / "virtuoso.ini").write_text(CONFIG.format(http=server.port, sql=server.sql_port))
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [program, "+foreground", "+configfile", "virtuoso.ini"], cwd=folder, stdout=output, stderr=output
        )
    try:
        wait_for_ports(process, server.port, server.sql_port)
        server.run_sql(f"DB.DBA.USER_CREATE ('{USER}', '{PASSWORD}')", f"GRANT SPARQL_UPDATE TO {USER}")
        yield server
    finally:
        process.kill()
        process.wait()
