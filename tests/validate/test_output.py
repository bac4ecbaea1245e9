"""Documents of findings for programs: complete with none and with many, and safe with what pages say."""

import csv
import io
import json

import pytest

from rdfspider.validate.findings import ERROR, Finding
from rdfspider.validate.output import COLUMNS, WRITERS, write_document
from rdfspider.validate.profiles import load_profile
from rdfspider.validate.totals import Totals

PAGE = "https://a.example/"
EVIL = Finding(
    ERROR, "price-form", 'no "price"\n\u2028</script>', PAGE, "jsonld", "Offer.price", "Offer", '=cmd("x")', line=7
)


def write(name: str, *findings: Finding) -> str:
    writer = WRITERS[name](load_profile("schema"), "1.0")
    return "".join(write_document(writer, iter([(PAGE, list(findings))]), Totals()))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_json_is_whole_with_any_number_of_findings(count: int) -> None:
    found = json.loads(write("json", *[EVIL] * count))
    assert [one["message"] for one in found["findings"]] == [EVIL.message] * count
    assert (found["pages"], found["severities"]["error"]) == (1, count)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_sarif_is_whole_with_any_number_of_findings(count: int) -> None:
    [made] = json.loads(write("sarif", *[EVIL] * count))["runs"]
    assert [one["message"]["text"] for one in made["results"]] == [f"Offer.price: {EVIL.message}"] * count
    for one in made["results"]:
        assert one["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_csv_quotes_line_ends_and_guards_formulas() -> None:
    head, row = csv.reader(io.StringIO(write("csv", EVIL), newline=""))
    assert tuple(head) == COLUMNS
    found = dict(zip(head, row, strict=True))
    assert found["value"] == '\'=cmd("x")' and found["message"] == EVIL.message
