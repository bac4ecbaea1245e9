import pytest

from rdfspider.crawl.bounds import Plain, describe_allowed, list_settings, read_value

SETTINGS = list_settings()

NO_PATTERN = "a regular expression of RE2, which has no lookaround and no backreferences; what is wrong with this one: "


@pytest.mark.parametrize(
    ("name", "written", "meant"),
    [
        ("crawl.pages", "1000", 1000),
        ("crawl.pages", 1e6, 1_000_000),
        ("crawl.time_s", "90", 90.0),
        ("crawl.time_s", "10m", 600.0),
        ("crawl.time_s", "1h30m", 5400.0),
        ("crawl.time_s", "0.5d", 43_200.0),
        ("frontier.delay_s", "0", 0.0),
        ("frontier.delay_s", 2, 2.0),
        ("crawl.bytes", "16MB", 16_000_000),
        ("crawl.bytes", "2 GiB", 2 * 1024**3),
        ("crawl.bytes", "500k", 500_000),
        ("fetch.allow_private", "yes", True),
        ("fetch.allow_private", False, False),
        ("fetch.contact", "https://example.org/bot", "https://example.org/bot"),
        ("fetch.contact", "me@example.org", "me@example.org"),
        ("fetch.contact", "", ""),
        ("fetch.resolve", "*.test=127.0.0.1:8085 a.test=[::1]:80", ["*.test=127.0.0.1:8085", "a.test=[::1]:80"]),
        ("fetch.resolve", ["*.test=::1"], ["*.test=::1"]),
        ("crawl.include", ["/a{1,2}/", ""], ["/a{1,2}/"]),
        ("crawl.include", "one two", ["one", "two"]),
        ("extract.syntaxes", "rdfa,jsonld", ["jsonld", "rdfa"]),
        ("archive.keep", "all", "all"),
        ("run.address", "::1", "::1"),
        ("run.address", "[::1]", "[::1]"),
        ("run.places", ["[::1]=/one", "::1=/two", "eth0=/a=b"], ["[::1]=/one", "::1=/two", "eth0=/a=b"]),
        ("archive.volumes", "/one two/three", ["/one", "two/three"]),
        ("crawl.ways", "", []),
        ("crawl.data_links", "http://a.org/p http://b.org/q", ["http://a.org/p", "http://b.org/q"]),
        ("crawl.data_links", "select ?x\n{ ?x ?y ?z } # all", ["select ?x { ?x ?y ?z }"]),
    ],
)
def test_what_people_write(name: str, written: object, meant: Plain) -> None:
    value = read_value(SETTINGS[name], written)
    assert (value, type(value)) == (meant, type(meant))


@pytest.mark.parametrize(
    ("name", "written", "allowed"),
    [
        ("crawl.pages", "many", "a whole number of 0 or more"),
        ("crawl.pages", "1.5", "a whole number of 0 or more"),
        ("crawl.pages", -1, "a whole number of 0 or more"),
        ("crawl.pages", True, "a whole number of 0 or more"),
        ("crawl.pages", [1], "a whole number of 0 or more"),
        ("crawl.shards", 4097, "a whole number from 0 to 4,096"),
        ("frontier.delay_s", "nan", "a number of seconds of 0 or more, such as 90, 10m or 2h"),
        ("frontier.delay_s", "1h30", "a number of seconds of 0 or more, such as 90, 10m or 2h"),
        ("frontier.delay_s", "h", "a number of seconds of 0 or more, such as 90, 10m or 2h"),
        ("frontier.delay_s", "inf", "a number of seconds of 0 or more, such as 90, 10m or 2h"),
        ("fetch.robots_ttl_s", "2d", "a number of seconds from 1 to 86,400, such as 90, 10m or 2h"),
        ("archive.segment_bytes", "1", "a number of bytes from 1,000 to 1,000,000,000,000, such as 500000 or 16MB"),
        ("fetch.allow_private", "maybe", "true or false"),
        ("fetch.contact", "somebody", "a URL or an e-mail address"),
        ("fetch.contact", "me@example.org)\r\nX: y", "a URL or an e-mail address, such as"),
        ("crawl.scope", "site", "one of host, domain, prefix, any"),
        ("crawl.include", "(", f"{NO_PATTERN}missing )"),
        ("crawl.exclude", ["x(?=y)"], f"{NO_PATTERN}invalid perl operator: (?="),
        ("crawl.include", [1], "a list of text"),
        ("crawl.include", "\udcff", "a list of text"),
        ("fetch.resolve", "x", "PATTERN=ADDRESS[:PORT], such as *.test=127.0.0.1:8085"),
        ("fetch.resolve", "x=127.0.0.1:99999", "PATTERN=ADDRESS[:PORT], such as"),
        ("fetch.resolve", "x=300.0.0.1", "PATTERN=ADDRESS[:PORT], such as"),
        ("run.address", "0.0.0.0", "one address of this machine, such as 127.0.0.1 or ::1"),
        ("run.address", "::", "one address of this machine, such as"),
        ("run.address", "1.2.3", "one address of this machine, such as"),
        ("run.address", "127.0.0.1:80", "one address of this machine, such as"),
        ("run.address", "", "one address of this machine, such as"),
        ("run.places", ["127.0.0.2"], "ADDRESS=FOLDER with a whole path, such as 127.0.0.2=/disk1/crawl"),
        ("run.places", ["127.0.0.2=disk1"], "ADDRESS=FOLDER with a whole path, such as"),
        ("run.places", ["=/disk1"], "ADDRESS=FOLDER with a whole path, such as"),
        ("run.places", ["[::1=/disk1"], "ADDRESS=FOLDER with a whole path, such as"),
        ("run.places", ["[::1]x=/disk1"], "ADDRESS=FOLDER with a whole path, such as"),
        ("extract.syntaxes", "rfda", "some of "),
        ("crawl.ways", "sitemap", "some of sitemaps, headers, data, contexts, ontologies"),
        (
            "crawl.data_links",
            "seeAlso",
            "IRIs of predicates, such as http://schema.org/url, or one SPARQL query (SELECT)",
        ),
        ("crawl.data_links", "SELECT ?x {", "one SPARQL query, a SELECT; what is wrong with this one: error at 1:"),
        (
            "crawl.data_links",
            ["BASE <http://a/> ASK {}"],
            "one SPARQL query, a SELECT; what is wrong with this one: it is no",
        ),
        ("extract.documents", 1, "the path of a folder"),
        ("archive.volumes", [1], "a list of folders, each of them once"),
        ("archive.volumes", ["/one", "/one"], "a list of folders, each of them once"),
    ],
)
def test_what_is_not_allowed_says_what_is(name: str, written: object, allowed: str) -> None:
    with pytest.raises(ValueError) as complaint:
        read_value(SETTINGS[name], written)
    assert str(complaint.value).startswith(allowed)


def test_every_default_is_allowed() -> None:
    plain = {"extract.syntaxes", "extract.documents", "extract.stylesheets", "extract.transforms"}
    for setting in SETTINGS.values():
        if setting.name not in plain:
            default = list(setting.default) if isinstance(setting.default, tuple) else setting.default
            assert read_value(setting, default) == default
        assert describe_allowed(setting)


def test_settings_stay_few() -> None:
    assert len(SETTINGS) < 70
