"""One page through all checks that a user asks for: by profile, by SHACL shapes, with source lines.

What to check is named by texts, so that it can be sent to other processes, which load profiles and shapes once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from rdfspider.records import Problem
from rdfspider.validate.findings import Finding, merge_findings
from rdfspider.validate.lines import add_lines
from rdfspider.validate.page import Validator
from rdfspider.validate.profiles import load_profile
from rdfspider.validate.shapes import Shapes


@dataclass(frozen=True, slots=True)
class Checks:
    """What pages are checked for."""

    profile: str
    """The name of a bundled profile, or the path of a file."""
    shapes: tuple[str, ...] = ()
    """The paths of files with SHACL shapes."""


def check_page(
    checks: Checks, url: str, statements: Mapping[str, str], problems: Iterable[Problem] = (), text: str = ""
) -> list[Finding]:
    """Return the findings of a page, the worst first; with their lines if the page's text is given."""
    validator, shapes = open_checks(checks)
    found = validator.check(url, statements, problems)
    if shapes is not None:
        found = merge_findings([*found, *shapes.check(url, statements)])
    return add_lines(found, text) if text else found


@lru_cache(maxsize=8)
def open_checks(checks: Checks) -> tuple[Validator, Shapes | None]:
    """Load the profile and the shapes; UsageError if they cannot be used."""
    return Validator(load_profile(checks.profile)), Shapes(checks.shapes) if checks.shapes else None
