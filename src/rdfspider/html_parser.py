"""Which parser of HTML this process has: turbohtml, or the second one, where turbohtml is missing or must not be used.

turbohtml is native code that reads hostile bytes. A process has one parser, which is chosen when it starts:
`RDFSPIDER_PARSER=justhtml` in the environment asks for the second, which is in plain Python (`extract/second_parser/`).
"""

import logging
import os

PARSER_VARIABLE = "RDFSPIDER_PARSER"
FIRST_PARSER, SECOND_PARSER = "turbohtml", "justhtml"


def _must_be_second() -> bool:
    log, wanted = logging.getLogger(__name__), os.environ.get(PARSER_VARIABLE) or FIRST_PARSER
    if wanted == SECOND_PARSER:
        return True
    if wanted != FIRST_PARSER:
        log.warning("%s is %r, and may be %s or %s", PARSER_VARIABLE, wanted, FIRST_PARSER, SECOND_PARSER)
    try:
        import turbohtml  # noqa: F401
    except ImportError as error:
        log.warning("turbohtml cannot be imported (%s): pages are read by %s, which takes longer", error, SECOND_PARSER)
        return True
    return False


IS_SECOND_PARSER = _must_be_second()
"""Whether pages are read by the second parser. It takes longer, so that they are all read in processes that can be killed."""
