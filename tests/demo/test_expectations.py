"""What the demo tells at its end."""

from rdfspider.demo.expectations import Hidden, Published, tell_findings


def test_what_is_missing_or_leaked_is_told() -> None:
    published = [
        Published("book/eels", "http://a.localhost/1", "Eels"),
        Published("book/eels", "http://b.localhost/1", "Eels"),
        Published("person/ilse", "http://a.localhost/2", "Ilse"),
    ]
    hidden = [Hidden("http://a.localhost/3", "A Secret", "robots"), Hidden("http://a.localhost/4", "Another", "trap")]
    statements = {
        "http://a.localhost/1": '<b> <name> "Eels" .\n',
        "http://b.localhost/1": '<b> <name> "Eels" .\n',
    }
    # Whatever record it is in, and however it is written, it is told.
    everything = "".join(statements.values()) + "outlink: http://a.localhost/a-secret\r\n"
    assert tell_findings(statements, everything, published, hidden) == [
        "",
        "Found 1 of 2 things that the sites publish: 1 book.",
        "Known from several sites, among others:",
        "  Eels                     a, b",
        "Left out, as it should be: 1 at the bottom of traps.",
        "Not found: Ilse (http://a.localhost/2)",
        "Found, but it is behind robots.txt: A Secret (http://a.localhost/3)",
    ]
