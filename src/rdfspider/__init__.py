"""rdfspider: a spider for the web's structured data.

`rdfspider.extract(body, url)` takes all statements out of one page, `rdfspider.Crawl` goes and gets pages; the command
`rdfspider` does both.
"""

import logging

from rdfspider.config import Config, ExtractConfig
from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.fetch.robots import RobotsTxt
from rdfspider.records import Extraction, Link, Page, Problem, Robots
from rdfspider.run.crawl import Crawl
from rdfspider.run.documents import FolderDocuments
from rdfspider.run.folder.status import Status
from rdfspider.run.pipeline import extract

__version__ = "0.1.0"

# A library stays silent unless the program that uses it asks for its log.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "Config",
    "Crawl",
    "ExtractConfig",
    "Extraction",
    "FolderDocuments",
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
