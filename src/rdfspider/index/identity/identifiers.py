"""Identifiers: a text of a page enters, the identifier in its one form leaves, or nothing if it is none.

Check digits are checked, and numbers that anybody may give out are refused, so that `0000` or a shop's own number joins nothing.
"""

import re
from hashlib import sha1

_MAX_CHARS = 300
_DIGITS = re.compile(r"[0-9]+")
_ISBN_START = re.compile(r"(?:urn:)?isbn(?:-?1[03])?[:\s]*", re.IGNORECASE)
_ORCID = re.compile(r"([0-9]{4})-?([0-9]{4})-?([0-9]{4})-?([0-9]{3}[0-9Xx])")
_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s\"<>?#]+")
_MAILBOX = re.compile(r"[^@\s:/,;<>\"]{1,64}@[^@\s:/,;<>\"]{1,200}\.[^@\s:/,;<>\".0-9]{2,}")
_SHA1 = re.compile(r"[0-9a-f]{40}")
_GTIN_LENGTHS = (8, 12, 13, 14)
_SEQUENCES = "01234567890123456789012", "98765432109876543210987"
_FEWEST_DIGITS = 3
"""A number of fewer different digits, such as 1111111111116, was made up."""


def read_gtin(text: str) -> str:
    """A GTIN (EAN, UPC, ISBN-13) as 14 digits; empty if the check digit is wrong, or if the number is one that shops give out
    themselves, which other shops give out too."""
    digits = _join_digits(text)
    if len(digits) not in _GTIN_LENGTHS or not _DIGITS.fullmatch(digits):
        return ""
    gtin = digits.zfill(14)
    if sum(int(digit) * (3 if at % 2 == 0 else 1) for at, digit in enumerate(gtin)) % 10:
        return ""
    is_own = digits[0] in "02" if len(digits) == 8 else gtin[1] == "2" or gtin[1:3] in ("02", "04")
    return "" if is_own or _is_made_up(digits[:-1]) else gtin


def read_isbn(text: str) -> str:
    """An ISBN as the 14 digits of its GTIN; empty if the check digit is wrong."""
    digits = _join_digits(_ISBN_START.sub("", text[:_MAX_CHARS].strip(), count=1)).upper()
    if len(digits) == 13:
        return read_gtin(digits) if digits[:3] in ("978", "979") else ""
    if len(digits) != 10 or not _DIGITS.fullmatch(digits[:9]) or digits[9] not in "0123456789X":
        return ""
    values = [10 if digit == "X" else int(digit) for digit in digits]
    if sum(value * (10 - at) for at, value in enumerate(values)) % 11 or _is_made_up(digits[:9]):
        return ""
    body = f"978{digits[:9]}"
    check = -sum(int(digit) * (1 if at % 2 == 0 else 3) for at, digit in enumerate(body)) % 10
    return f"0{body}{check}"


def read_orcid(text: str) -> str:
    """An ORCID as `0000-0002-1825-0097`; empty if the check digit is wrong (ISO 7064, 11-2)."""
    found = _ORCID.search(text[:_MAX_CHARS])
    if found is None:
        return ""
    digits = "".join(found.groups()).upper()
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    if digits[15] != ("X" if check == 10 else str(check)) or not digits[:15].strip("0"):
        return ""
    return "-".join(found.groups()).upper()


def read_doi(text: str) -> str:
    """A DOI in lower case."""
    found = _DOI.search(text[:_MAX_CHARS])
    return found[0].rstrip(".,;:)]}'").lower() if found else ""


def read_mailbox(text: str) -> str:
    """The SHA-1 of an e-mail address in lower case, as FOAF has it; empty if it is none."""
    address = text[:_MAX_CHARS].strip().lower().removeprefix("mailto:").partition("?")[0]
    return sha1(f"mailto:{address}".encode(), usedforsecurity=False).hexdigest() if _MAILBOX.fullmatch(address) else ""


def read_mailbox_sum(text: str) -> str:
    """The SHA-1 of an e-mail address that a page states as such."""
    digest = text.strip().lower()
    return digest if _SHA1.fullmatch(digest) else ""


def _join_digits(text: str) -> str:
    return text[:_MAX_CHARS].replace("-", "").replace(" ", "").replace("\u2010", "").replace("\u2011", "").strip()


def _is_made_up(digits: str) -> bool:
    return len(set(digits.lstrip("0"))) < _FEWEST_DIGITS or any(digits in sequence for sequence in _SEQUENCES)
