"""User and password of an outside store: where they come from, and how a request proves them (RFC 7617 and RFC 7616).

Nothing is proven before the server asks, so a server that knows digests never sees the password. No text that leaves here for
people has a password in it.
"""

import netrc
import os
import re
import secrets
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import new as new_hash
from logging import getLogger
from pathlib import Path
from urllib.parse import unquote
from urllib.request import parse_http_list, parse_keqv_list

from rdfspider.errors import UsageError

USER_VARIABLE, PASSWORD_VARIABLE = "RDFSPIDER_STORE_USER", "RDFSPIDER_STORE_PASSWORD"

_HASHES = {"md5": "md5", "sha-256": "sha256", "sha-512-256": "sha512_256"}
_CHALLENGE = re.compile(r"(?:^|,)\s*(Basic|Digest)\s+", re.IGNORECASE)
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


class Proof:
    """What one connection says in `Authorization`, after the server has asked; a digest's nonce serves until it is stale."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._challenge: dict[str, str] | None = None
        self._uses = 0
        self.is_basic = False

    @property
    def is_known(self) -> bool:
        """Whether the server has asked yet."""
        return self.is_basic or self._challenge is not None

    def take_challenges(self, headers: Sequence[str]) -> bool:
        """Choose a way that the server offers, digests first; False where it offers none that is known here."""
        self.is_basic, self._challenge = False, None
        for header in headers:
            # Scheme, parameters, scheme, parameters: several challenges may share a header.
            parts = _CHALLENGE.split(header)[1:]
            for scheme, parameters in zip(parts[::2], parts[1::2], strict=True):
                if scheme.lower() == "basic":
                    self.is_basic = True
                elif (challenge := _read_digest(parameters)) and self._challenge is None:
                    self._challenge, self._uses = challenge, 0
        return self.is_known

    def make_header(self, method: str, target: str) -> str | None:
        """The value of `Authorization` for one request; None before the server has asked."""
        if self._challenge is not None:
            self._uses += 1
            return _make_digest(self._challenge, self._credentials, method, target, self._uses)
        return f"Basic {self._basic_token()}" if self.is_basic else None

    def hide_in(self, text: str) -> str:
        """The text of a server, which may repeat what it was sent, without the password."""
        for secret in (self._credentials.password, self._basic_token()):
            text = text.replace(secret, "…") if secret else text
        return text

    def _basic_token(self) -> str:
        return b64encode(f"{self._credentials.user}:{self._credentials.password}".encode()).decode()


def _read_digest(parameters: str) -> dict[str, str] | None:
    pairs = [pair for pair in parse_http_list(parameters) if "=" in pair]
    challenge = {name.lower(): value for name, value in parse_keqv_list(pairs).items()}
    algorithm = challenge.get("algorithm", "MD5").lower().removesuffix("-sess")
    ways = [way.strip().lower() for way in challenge.get("qop", "auth").split(",")]
    return challenge if algorithm in _HASHES and "auth" in ways and "nonce" in challenge else None


def _make_digest(challenge: dict[str, str], credentials: Credentials, method: str, target: str, uses: int) -> str:
    """RFC 7616, 3.4; without `qop` as in RFC 2069."""
    algorithm = challenge.get("algorithm", "MD5")
    name = _HASHES[algorithm.lower().removesuffix("-sess")]

    def digest(*parts: str) -> str:
        return new_hash(name, ":".join(parts).encode(), usedforsecurity=False).hexdigest()

    realm, nonce = challenge.get("realm", ""), challenge["nonce"]
    client_nonce, count = secrets.token_hex(8), f"{uses:08x}"
    secret = digest(credentials.user, realm, credentials.password)
    if algorithm.lower().endswith("-sess"):
        secret = digest(secret, nonce, client_nonce)
    request = digest(method, target)
    quoted = {"username": credentials.user, "realm": realm, "nonce": nonce, "uri": target}
    bare = {"algorithm": algorithm} if "algorithm" in challenge else {}
    if "qop" in challenge:
        quoted |= {"cnonce": client_nonce, "response": digest(secret, nonce, count, client_nonce, "auth", request)}
        bare |= {"qop": "auth", "nc": count}
    else:
        quoted["response"] = digest(secret, nonce, request)
    if "opaque" in challenge:
        quoted["opaque"] = challenge["opaque"]
    escaped = {key: value.replace("\\", "\\\\").replace('"', '\\"') for key, value in quoted.items()}
    return "Digest " + ", ".join(
        [f'{key}="{value}"' for key, value in escaped.items()] + [f"{key}={value}" for key, value in bare.items()]
    )
