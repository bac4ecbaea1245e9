"""How many of the broken JSON-LD scripts of real pages yield data, and what was repaired in them.

    python benchmarks/report_repair.py CORPUS

CORPUS holds `index.jsonl` and the pages that it lists.
"""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

from rdfspider.config import ExtractConfig
from rdfspider.extract.dom import parse_html
from rdfspider.extract.jsonld import extract_document, script_text, select_scripts
from rdfspider.extract.statements import Problems, Statements


def main(corpus: Path) -> None:
    scripts = refused = yielding = quads = 0
    repairs: Counter[str] = Counter()
    rest: list[str] = []
    for line in (corpus / "index.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if not record["jsonld_blocks"]:
            continue
        url = record["url"] or "http://example.org/"
        body = gzip.decompress((corpus / record["file"]).read_bytes())
        charset = "utf-8" if record["valid_utf8"] else record["declared_charset"] or "windows-1252"
        as_utf8 = select_scripts(parse_html(body.decode("utf-8", "surrogateescape")))
        as_declared = select_scripts(parse_html(body.decode(charset, "replace")))
        for bytes_script, script in zip(as_utf8, as_declared, strict=True):
            scripts += 1
            if _is_json(script_text(bytes_script)):
                continue
            text = script_text(script)
            refused += 1
            problems = Problems()
            out = Statements(url, url, "jsonld", ExtractConfig(), problems)
            extract_document(text, out)
            yielding += bool(out.lines)
            quads += len(out.lines)
            messages = {problem.code: problem.message for problem in problems.listed()}
            if "json-repaired" not in messages:
                repairs["another charset than UTF-8"] += bool(out.lines)
            else:
                repairs_text, _, lost = messages["json-repaired"].partition("; left out as unclear: ")
                repairs.update(repairs_text.partition("repair of ")[2].split(", "))
                repairs["members left out as unclear"] += bool(lost)
            if not out.lines:
                rest.append(f"{url}: {'; '.join(messages.values())}")
    print(f"{scripts} scripts, {refused} refused by a strict parser of UTF-8; {yielding} of them yield {quads} quads")
    for repair, count in repairs.most_common():
        print(f"{count:5}  {repair}")
    for reason in rest:
        print(f"nothing: {reason}")


def _is_json(text: str) -> bool:
    """Whether a parser that knows UTF-8 alone takes the bytes that this text was."""
    try:
        json.loads(text.encode("utf-8"))
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
