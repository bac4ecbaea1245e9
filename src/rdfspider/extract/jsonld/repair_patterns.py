"""The patterns by which `rewriter.py` reads broken JSON: what may stand between members, how values end, and what is unclear.

Every repetition is possessive or bounded, so that no text takes long.
"""

import re

BLANKS = " \t\r\n\f\v\0\ufeff\u00a0\u200b"
ESCAPED_START = re.compile(r"[\[{\s]*+&(?:quot|#0*34|#x0*22);", re.IGNORECASE)
ASSIGNMENT = re.compile(r"(?:(?:var|let|const)\s++)?[A-Za-z_$][\w.$]{0,80}\s*+=\s*+(?=[\[{])")

SPACE = re.compile(r"[\s\x00-\x1f\ufeff\u200b]++")
BRACKET = re.compile(r"[\s\x00-\x1f\ufeff\u200b]*+[{\[]")
MARKUP = re.compile(
    r"(?://\s*+)?<!\[CDATA\[|(?://\s*+)?<!--|-->|\]\]>"
    r"|//[^\r\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*+(?:\*/)?|</?[A-Za-z][^<>\"]{0,200}>"
)
_TAG_TEXT = (
    r"(?:\{%[^%\r\n]{0,300}%\}|\{\{(?!\s*+[\"'])[^{}\r\n]{0,300}\}\}|\{#[^#\r\n]{0,300}#\}"
    r"|<\?[^?]{0,300}\?>|<%[^%]{0,300}%>)"
)
TAG = re.compile(_TAG_TEXT)
TAGGED_VALUE = re.compile(rf"(?:{_TAG_TEXT}|[^{{}}\[\],\"'\r\n]){{1,300}}+")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?=[\s,}\];]|$)")
BARE_VALUE = re.compile(r"[^\s,{}\[\]\"'<>:][^,{}\[\]\"<>\r\n]{0,200}")
# Text without quotes that holds another key, and that is a program's expression or has quotes of another language.
BARE_KEY_INSIDE = re.compile(r"\s[\w@$-]++\s*+:(?!//)|[\w@$-]++\s*+:(?:\s|$)")
EXPRESSION = re.compile(
    r"(?:window|document|location|this)\.|[`\\]|\+(?!\d)|&#?\w{1,8};|.*(?:\(\)|\s\+\s|(?<!:)//|/\*)", re.DOTALL
)
WORDS = {"true": "true", "false": "false", "null": "null", "True": "true", "False": "false", "None": "null"}
NO_VALUES = frozenset({"undefined", "NaN", "Infinity", "-Infinity"})

_DOUBLE, SINGLE = '"“”„‟″', "'‘’‚"
# What may stand in a string up to the quote that may end it: one opened by a typographic quote may end with a straight one.
TEXT = {quote: re.compile(rf"[^{_DOUBLE if quote in _DOUBLE else SINGLE}\\]*+") for quote in _DOUBLE + SINGLE}
TEXT |= {quote: re.compile(rf"[^{quote}\\]*+") for quote in "\"'"}
ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})')
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
CONTROL = re.compile(r"[\x00-\x1f]")

_QUOTES = _DOUBLE + SINGLE
QUOTE_OF_PAIR = re.compile(rf"(?<!\w)[{_QUOTES}]|[{_QUOTES}](?!\w)")
_KEY_TEXT = rf"(?:[^{_QUOTES}\\{{}}\[\],<>\x00-\x1f]|\\/){{0,200}}+"
QUOTED_KEY = re.compile(rf"[{_QUOTES}]({_KEY_TEXT})[{_QUOTES}]\s*+:")
_BARE = r"[A-Za-z_@$][\w$-]{0,80}"
BARE_KEY = re.compile(rf"({_BARE})\s*+:")
_VALUE_START = rf"(?:[{_QUOTES}0-9\[{{-]|true|false|null)"
# What follows a value of an object or array: not the end of the text, which may cut it. Any other quote belongs to the text.
_GAP = rf"\s*+(?:(?:{_TAG_TEXT}|<br[^<>\"]{{0,20}}>|</?p>|<!--[^<>{{}}\[\]\"]{{0,300}}-->)\s*+){{0,8}}+"
_NOTE = r"(?<=[\s,])/[/*]"
_END = rf"{_GAP}(?:[}}\]]|;\s*+[}}\]]|{_NOTE}|\]\]>|-->|<!--"
AFTER_MEMBER = re.compile(rf"{_END}|(?:,{_GAP}(?:$|[,}}\]]|{_NOTE}|(?={QUOTED_KEY.pattern}))|{QUOTED_KEY.pattern}))")
AFTER_ITEM = re.compile(rf"{_END}|,{_GAP}(?:$|[,}}\]\[{{{_QUOTES}0-9-]|{_NOTE}|true|false|null))|\s*+\n\s*+[{_DOUBLE}]")
BARE_MEMBER = re.compile(rf"{_GAP},{_GAP}{_BARE}\s*+:\s*+{_VALUE_START}")
BARE_MEMBER_AFTER_SPACE = re.compile(rf"\s++{_BARE}\s*+:\s*+{_VALUE_START}")
ANY_BARE_MEMBER = re.compile(rf"{_GAP},{_GAP}{_BARE}\s*+:")
# After a quote that does not end the string: another key, an expression, or a template, but hardly text.
UNCLEAR = re.compile(rf"\s*+(?:[:+=]|,\s*+{_BARE}\s*+:|{_TAG_TEXT})|\s++{_BARE}\s*+:")
LIKE_AN_END = re.compile(rf"\s++,|,(?:\S|\s*+[{_QUOTES}])")
