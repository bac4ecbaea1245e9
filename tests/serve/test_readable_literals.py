import pytest

from rdfspider.results import StatedValue
from rdfspider.serve.readable_literals import draw_date, draw_literal, draw_span, find_place

S = "http://schema.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"


@pytest.mark.parametrize(
    ("text", "machine", "shown"),
    [
        ("2024-05-01", "2024-05-01", "1 May 2024"),
        ("2024-05-01T14:30:00Z", "2024-05-01T14:30:00Z", "1 May 2024, 14:30 UTC"),
        ("2024-05-01 14:30", "2024-05-01T14:30", "1 May 2024, 14:30"),
        ("2024-05-01T14:30:05.123+02:00", "2024-05-01T14:30:05.123+02:00", "1 May 2024, 14:30 UTC+02:00"),
        ("2024-05-01Z", "2024-05-01", "1 May 2024"),
        ("0476-09-04", "0476-09-04", "4 September 476"),
    ],
)
def test_dates_are_written_as_people_do(text: str, machine: str, shown: str) -> None:
    assert draw_date(text) == f'<time datetime="{machine}" title="{text}">{shown}</time>'


@pytest.mark.parametrize(
    "text", ["2024", "2024-05", "2024-13-01", "2024-02-30", "20240501", "-0044-03-15", "0000-01-01", "x"]
)
def test_what_is_no_day_stays_as_it_is(text: str) -> None:
    assert draw_date(text) is None


def test_a_year_is_a_date_where_something_says_so() -> None:
    assert draw_date("1991", name="datepublished") == '<time datetime="1991" title="1991">1991</time>'
    assert (
        draw_date("1991-05", datatype=f"{XSD}gYearMonth") == '<time datetime="1991-05" title="1991-05">May 1991</time>'
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("PT1H30M", '<time datetime="PT1H30M" title="PT1H30M">1 hour 30 minutes</time>'),
        ("PT0S", '<time datetime="PT0S" title="PT0S">0 seconds</time>'),
        ("P1Y2M", '<span title="P1Y2M">1 year 2 months</span>'),
        ("P2W", '<span title="P2W">2 weeks</span>'),
        ("PT1.5S", '<time datetime="PT1.5S" title="PT1.5S">1.5 seconds</time>'),
    ],
)
def test_durations_in_words(text: str, shown: str) -> None:
    assert draw_span(text) == shown


@pytest.mark.parametrize("text", ["P", "PT", "Paris", "", "P1", "P" + "1" * 10_000 + "D"])
def test_what_is_no_duration(text: str) -> None:
    assert draw_span(text) is None


def test_places_by_degrees_by_nodes_and_by_points() -> None:
    degrees = {f"{S}latitude": (StatedValue("52.52"),), f"{S}longitude": (StatedValue("13,405"),)}
    place = find_place(degrees)
    assert place
    assert place.text == "52.5200° N, 13.4050° E"
    assert find_place({f"{S}geo": (StatedValue("genid:x", "blank", inside=degrees),)}) == place
    assert find_place({f"{S}geo": (StatedValue("geo:52.52,13.405", "iri"),)}) == place
    south = find_place({"http://www.georss.org/georss/point": (StatedValue("-33.9 -70.6"),)})
    assert south
    assert south.text == "33.9000° S, 70.6000° W"


@pytest.mark.parametrize(
    ("latitude", "longitude"), [("91", "0"), ("0", "181"), ("north", "0"), ("", ""), ("nan", "0"), ("9" * 99, "0")]
)
def test_what_is_nowhere(latitude: str, longitude: str) -> None:
    assert find_place({f"{S}latitude": (StatedValue(latitude),), f"{S}longitude": (StatedValue(longitude),)}) is None


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("name", "P100D"),
        ("model", "P100D"),
        ("serialNumber", "P3D"),
        ("award", "PT1H"),
        ("sku", "2024-05-01"),
        ("name", "2024-05-01"),
        ("identifier", "2024-05-01"),
        ("gtin13", "2024-05-01"),
        ("softwareVersion", "2024-05-01"),
        ("latitude", "95"),
        ("longitude", "-180.5"),
    ],
)
def test_what_only_looks_like_a_date_a_duration_or_a_degree_stays_as_it_is(name: str, text: str) -> None:
    assert draw_literal(StatedValue(text), S + name) == f"<bdi>{text}</bdi>"


@pytest.mark.parametrize(
    ("name", "datatype", "text", "shown"),
    [
        ("cookTime", "", "PT1H", "1 hour"),
        ("timeRequired", "", "PT1H", "1 hour"),
        ("duration", "", "P3D", "3 days"),
        ("gracePeriod", "", "P3D", "3 days"),
        ("award", f"{XSD}dayTimeDuration", "P3D", "3 days"),
        ("award", f"{S}Duration", "P3D", "3 days"),
        ("identifier", f"{XSD}date", "2024-05-01", "1 May 2024"),
        ("identifier", f"{XSD}dateTime", "2024-05-01T10:00:00", "1 May 2024, 10:00"),
        ("issued", "", "2024-05-01", "1 May 2024"),
        ("latitude", "", "-89.5", "89.5000° S"),
        ("longitude", "", "179.5", "179.5000° E"),
    ],
)
def test_where_the_property_or_the_datatype_says_so_it_is_one(name: str, datatype: str, text: str, shown: str) -> None:
    assert f">{shown}</" in draw_literal(StatedValue(text, datatype=datatype), S + name)


def test_the_first_place_that_is_one_counts() -> None:
    degrees = {f"{S}latitude": (StatedValue("52.52"),), f"{S}longitude": (StatedValue("13.405"),)}
    empty = StatedValue("genid:x", "blank", inside={f"{S}name": (StatedValue("Here"),)})
    for full in (
        StatedValue("genid:y", "blank", inside=degrees),
        StatedValue("https://a.example/#geo", "iri", inside=degrees),
    ):
        assert find_place({f"{S}geo": (empty, full)}) == find_place(degrees)


def test_prices_have_the_currency_that_stands_beside() -> None:
    beside = {f"{S}price": (StatedValue("19.90"),), f"{S}priceCurrency": (StatedValue("eur"),)}
    assert draw_literal(StatedValue("19.90"), f"{S}price", beside) == (
        '<span class="price" title="19.90 eur">€19.90</span>'
    )
    assert draw_literal(StatedValue("19.90"), f"{S}price", {}) == "<bdi>19.90</bdi>"
    assert draw_literal(StatedValue("ask"), f"{S}price", beside) == "<bdi>ask</bdi>"


def test_addresses_leave_the_site_and_nothing_else_can_be_clicked() -> None:
    assert 'rel="noopener noreferrer nofollow"' in draw_literal(StatedValue("https://example.org/a"))
    assert draw_literal(StatedValue("javascript:alert(1)")) == "<bdi>javascript:alert(1)</bdi>"
    assert "<b>" not in draw_literal(StatedValue("https://example.org/<b>"))
    assert "href" not in draw_literal(StatedValue("https://example.org/ and more"))


def test_long_text_is_cut() -> None:
    assert len(draw_literal(StatedValue("x" * 1_000_000))) < 1_100
