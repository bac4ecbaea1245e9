"""rdfspider: a spider for the web's structured data.

`rdfspider.extract(body, url)` takes all statements out of one page; the command `rdfspider` does it for many.
"""

from rdfspider.config import ExtractConfig
from rdfspider.errors import RdfspiderError, UsageError
from rdfspider.records import Extraction, Link, Page, Problem, Robots
from rdfspider.run.pipeline import extract

__version__ = "0.1.0"

__all__ = [
    "ExtractConfig",
    "Extraction",
    "Link",
    "Page",
    "Problem",
    "RdfspiderError",
    "Robots",
    "UsageError",
    "extract",
]
