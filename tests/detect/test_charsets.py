import pytest

from rdfspider.detect.charsets import decode_body
from rdfspider.html_parser import IS_SECOND_PARSER


@pytest.mark.parametrize(
    ("body", "header", "text", "charset"),
    [
        # The WHATWG's order: mark, header, declaration.
        (b"\xef\xbb\xbf\xc3\xa9", "latin1", "é", "utf-8"),
        (b"\xff\xfe\xe9\x00", None, "é", "utf-16le"),
        (b"<meta charset=utf-8>\xe9", "iso-8859-1", "<meta charset=utf-8>é", "iso-8859-1"),
        (b"<meta charset='windows-1251'>\xcf", None, "<meta charset='windows-1251'>П", "windows-1251"),
        (b'<?xml version="1.0" encoding="koi8-r"?>\xf0', None, '<?xml version="1.0" encoding="koi8-r"?>П', "koi8-r"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=utf-8>\xc3\xa9", None, None, "utf-8"),
        # Latin 1 means windows-1252, as in browsers.
        (b"\x80", "iso-8859-1", "€", "iso-8859-1"),
        # A declaration readable as ASCII is no UTF-16.
        (b"<meta charset=utf-16>\xc3\xa9", None, "<meta charset=utf-16>é", "utf-8"),
        # Unknown names are passed over.
        (b"<meta charset=utf-8>\xc3\xa9", "no-such-charset", "<meta charset=utf-8>é", "utf-8"),
        (b"<p>", "base64", "<p>", "utf-8"),
        # No word of it: UTF-8 if it is valid.
        ("ж".encode(), None, "ж", "utf-8"),
    ],
)
def test_charsets_are_read_in_order(body: bytes, header: str | None, text: str | None, charset: str) -> None:
    found, name, valid = decode_body(body, header, is_markup=True)
    assert (name, valid) == (charset, True)
    assert text is None or found == text


@pytest.mark.skipif(IS_SECOND_PARSER, reason="turbohtml detects")
def test_the_last_resort_is_detection() -> None:
    russian = "Привет, мир! Это довольно длинный текст на русском языке, чтобы его можно было узнать."
    text, charset, _ = decode_body(russian.encode("windows-1251"), None, is_markup=True)
    assert (text, charset) == (russian, "windows-1251")


@pytest.mark.skipif(IS_SECOND_PARSER, reason="the second parser detects nothing")
@pytest.mark.parametrize(
    ("charset", "words"),
    [("windows-1251", "Съешь ещё этих мягких"), ("shift_jis", "これは日本語の文章です"), ("gbk", "这是一个中文的句子")],
)
def test_few_words_between_much_markup_are_detected(charset: str, words: str) -> None:
    markup = "<div class='a'>plain</div>" * 500
    text = f"{markup}<p>{words}</p>{markup}<p>{words}</p>{markup}"
    assert decode_body(text.encode(charset), None, True)[0] == text


def test_bytes_that_are_wrong_are_replaced_and_told() -> None:
    text, charset, valid = decode_body(b"a\xffb", "utf-8", is_markup=True)
    assert (text, charset, valid) == ("a\ufffdb", "utf-8", False)
