"""rdfspider: a spider for the web's structured data.

`rdfspider.extract(body, url)` extracts all statements of one page, `rdfspider.Crawl` crawls, indexes and queries; the command
`rdfspider` does all of it.

A name is imported when it is first used (PEP 562): all together take a third of a second, which neither
`rdfspider --version` nor a program that reads a robots.txt should wait for.
"""

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdfspider.api import Crawl
    from rdfspider.config import Config, ExtractConfig
    from rdfspider.crawl.reports.explanations import Explanation
    from rdfspider.crawl.status import Status
    from rdfspider.errors import RdfspiderError, UsageError
    from rdfspider.fetch.robots import RobotsTxt
    from rdfspider.frontier.entries import HostEntry
    from rdfspider.linked_documents import FolderDocuments
    from rdfspider.pipeline import extract
    from rdfspider.records import Extraction, Link, Page, Problem, Robots

__version__ = "0.1.0"

# A library stays silent unless the program that uses it asks for its log.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "Config",
    "Crawl",
    "Explanation",
    "ExtractConfig",
    "Extraction",
    "FolderDocuments",
    "HostEntry",
    "Link",
    "Page",
    "Problem",
    "RdfspiderError",
    "Robots",
    "RobotsTxt",
    "Status",
    "UsageError",
    "extract",
]

_MODULES = {
    "Config": "config",
    "Crawl": "api",
    "Explanation": "crawl.reports.explanations",
    "ExtractConfig": "config",
    "Extraction": "records",
    "FolderDocuments": "linked_documents",
    "HostEntry": "frontier.entries",
    "Link": "records",
    "Page": "records",
    "Problem": "records",
    "RdfspiderError": "errors",
    "Robots": "records",
    "RobotsTxt": "fetch.robots",
    "Status": "crawl.status",
    "UsageError": "errors",
    "extract": "pipeline",
}
"""Where each name is defined."""


class _Door(ModuleType):
    """This module: `extract` is the function, although a stage has that name, too."""

    def __setattr__(self, name: str, value: object) -> None:
        # What is imported is made an attribute of its package; this one would hide the function.
        if name != "extract" or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Door

# A type checker would take whatever is misspelt for an attribute that is found here.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
