"""rdfspider: a spider for the web's structured data.

`rdfspider.extract(body, url)` takes all statements out of one page, `rdfspider.Crawl` goes and gets pages; the command
`rdfspider` does both.

A name is imported when it is first used (PEP 562): all together take a third of a second, in which the command line must be
able to answer Ctrl-C already, and who reads a robots.txt has no use for parsers.
"""

import logging
import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rdfspider.config import Config, ExtractConfig
    from rdfspider.errors import RdfspiderError, UsageError
    from rdfspider.fetch.robots import RobotsTxt
    from rdfspider.frontier.facts import HostEntry
    from rdfspider.records import Extraction, Link, Page, Problem, Robots
    from rdfspider.run.crawl import Crawl
    from rdfspider.run.documents import FolderDocuments
    from rdfspider.run.folder.status import Status
    from rdfspider.run.pipeline import extract
    from rdfspider.run.reports.why import Explanation

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
    "Crawl": "run.crawl",
    "Explanation": "run.reports.why",
    "ExtractConfig": "config",
    "Extraction": "records",
    "FolderDocuments": "run.documents",
    "HostEntry": "frontier.facts",
    "Link": "records",
    "Page": "records",
    "Problem": "records",
    "RdfspiderError": "errors",
    "Robots": "records",
    "RobotsTxt": "fetch.robots",
    "Status": "run.folder.status",
    "UsageError": "errors",
    "extract": "run.pipeline",
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
