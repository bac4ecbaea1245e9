"""rdfspider: a spider for the web's structured data.

`rdfspider.extract(body, url)` takes all statements out of one page; the command `rdfspider` does it for many.
"""

import logging

from rdfspider.config import ExtractConfig
from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.records import Extraction, Link, Page, Problem, Robots
from rdfspider.run.documents import FolderDocuments
from rdfspider.run.pipeline import extract

__version__ = "0.1.0"

# A library stays silent unless the program that uses it asks for its log.
logging.getLogger(__name__).addHandler(logging.NullHandler())

__all__ = [
    "ExtractConfig",
    "Extraction",
    "FolderDocuments",
    "Link",
    "Page",
    "Problem",
    "RdfspiderError",
    "Robots",
    "UsageError",
    "extract",
]
