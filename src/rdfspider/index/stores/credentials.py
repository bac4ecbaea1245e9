"""User and password of an outside store: where they come from, and how they stay out of what people read.

`index/graph_servers.py` gives them to libcurl, which proves them by Basic or Digest authentication after the server has asked.
"""

import netrc
import os
import re
from base64 import b64encode
from dataclasses import dataclass, field
from logging import getLogger
from pathlib import Path
from urllib.parse import unquote

from rdfspider.errors import UsageError

USER_VARIABLE, PASSWORD_VARIABLE = "RDFSPIDER_STORE_USER", "RDFSPIDER_STORE_PASSWORD"

_NOT_IN_HEADER = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_log = getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who asks; the password stays out of every representation."""

    user: str
    password: str = field(repr=False)


def find_credentials(host: str, userinfo: str) -> Credentials | None:
    """Those of the URL, else of the environment, else of ~/.netrc; None where there are none."""
    if userinfo:
        user, _, password = userinfo.partition(":")
        return _check(Credentials(unquote(user), unquote(password)))
    if user := os.environ.get(USER_VARIABLE, ""):
        return _check(Credentials(user, os.environ.get(PASSWORD_VARIABLE, "")))
    try:
        found = netrc.netrc(Path.home() / ".netrc").authenticators(host)
    except (FileNotFoundError, RuntimeError):
        return None
    except (OSError, UnicodeDecodeError, netrc.NetrcParseError) as error:
        _log.warning("~/.netrc cannot be read: %s", type(error).__name__)
        return None
    return _check(Credentials(found[0], found[2])) if found else None


def _check(credentials: Credentials) -> Credentials:
    # No header can carry these, and an error of the library would show the header.
    if _NOT_IN_HEADER.search(credentials.user + credentials.password):
        raise UsageError("--store: the user or password has control characters in it, which no request can carry")
    return credentials


def hide_secrets(text: str, credentials: Credentials) -> str:
    """The text of a server, which may repeat what it was sent, without the password."""
    token = b64encode(f"{credentials.user}:{credentials.password}".encode()).decode()
    for secret in (credentials.password, token):
        text = text.replace(secret, "…") if secret else text
    return text
