"""Parts of markup: names, attributes and text enter, their serialisation as HTML or XML leaves."""

import re
from collections.abc import Mapping
from typing import NamedTuple

_VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
_RAW = frozenset("style script xmp iframe noembed noframes plaintext".split())
_NAME = re.compile(r"[^\W\d][\w.\-\u00b7]*(?::[^\W\d][\w.\-\u00b7]*)?")
_NOT_IN_NAMES = re.compile(r"[^\w.\-\u00b7]")
_NOT_IN_XML = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_IN_TEXT = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_IN_ATTRIBUTE = str.maketrans({"&": "&amp;", '"': "&quot;", "<": "&lt;", ">": "&gt;", "\xa0": "&nbsp;"})
_IN_XML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;"})


class Html(NamedTuple):
    """How `serialize` writes an element, as turbohtml is told it; this parser knows XML only."""

    xml: bool


def html_tags(tag: str, attributes: Mapping[str, str], is_foreign: bool) -> tuple[str, str]:
    """The start tag and the end tag, which void elements have not."""
    written = [f' {name}="{value.translate(_IN_ATTRIBUTE)}"' for name, value in attributes.items()]
    return f"<{tag}{''.join(written)}>", "" if tag in _VOID and not is_foreign else f"</{tag}>"


def html_text(text: str, parent_tag: str) -> str:
    """Text inside an element."""
    return text if parent_tag in _RAW else text.translate(_IN_TEXT)


def xml_tags(tag: str, attributes: Mapping[str, str], is_empty: bool) -> tuple[str, str]:
    """The start tag, without attributes whose names XML does not allow, and the end tag."""
    if not _NAME.fullmatch(tag):
        tag = "_" + _NOT_IN_NAMES.sub("_", tag)
    written = [f' {name}="{xml_text(value)}"' for name, value in attributes.items() if _NAME.fullmatch(name)]
    return f"<{tag}{''.join(written)}{'/>' if is_empty else '>'}", "" if is_empty else f"</{tag}>"


def xml_text(text: str) -> str:
    """Text in content or in an attribute, without characters that XML does not allow."""
    return _NOT_IN_XML.sub("", text).translate(_IN_XML)


def xml_comment(text: str) -> str:
    """A comment; XML allows no two hyphens in it, and none at its end."""
    return f"<!--{_NOT_IN_XML.sub('', text).replace('--', '- -')}{' ' if text.endswith('-') else ''}-->"
