"""A shard's log that a test writes, page by page, without a crawl."""

import time
from pathlib import Path

from rdfspider.archive.writer import ArchiveWriter
from rdfspider.config import ArchiveConfig
from rdfspider.records import Capture, Extraction, Finished, Judgement, Lease, Page, Verdict


class ShardLog:
    """The archive of one shard of the crawl in a folder."""

    def __init__(self, folder: Path, shard: int = 0) -> None:
        self.folder = folder
        warc = folder / "shards" / f"{shard:03}" / "warc"
        self._writer = ArchiveWriter(
            warc, ArchiveConfig(), prefix=f"shard-{shard:03}", info={"software": "test"}, committed=None
        )

    def write(
        self,
        *urls: str,
        name: str = "",
        status: int = 200,
        fetched: float | None = None,
        reason: str = "fetched",
        directives: tuple[str, ...] = (),
        rdfa: str = "",
    ) -> None:
        """Put pages on record, each with a name of its own unless one is given, perhaps with more RDFa; let readers have them."""
        for url in urls:
            started = time.time() if fetched is None else fetched
            body = f"<title>{name or url}</title>".encode()
            capture = Capture(
                Page(url, body, "text/html"), status, "OK", "1.1", (), (), "192.0.2.7", started, 0.1, len(body)
            )
            nquads = (
                f"<{url}#it> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://schema.org/Thing> <{url}> .\n"
                f'<{url}#it> <http://schema.org/name> "{name or f"the thing of {url}"}" <{url}> .\n'
            )
            said = Extraction(
                url,
                "text/html",
                "utf-8",
                {"jsonld": nquads, "rdfa": rdfa} if rdfa else {"jsonld": nquads},
                (),
                name or url,
                "en",
                f"words of {url}",
            )
            verdict = Verdict("done", reason if status == 200 else "gone", status)
            judgement = Judgement(directives=directives)
            lease = Lease("page", "x", 1, url)
            self._writer.write_outcome(
                Finished(lease, verdict, capture, said if status == 200 else None, judgement=judgement)
            )
        self._writer.flush()
        self._writer.sync()
        self._writer.publish()
