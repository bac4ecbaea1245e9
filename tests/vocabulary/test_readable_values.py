import pytest

from rdfspider.vocabulary.readable_values import write_price, write_value


@pytest.mark.parametrize(
    ("amount", "currency", "shown"),
    [
        ("1299", "EUR", "€1,299"),
        ("12.5", "usd", "$12.50"),
        ("63.070000", "RON", "63.07 RON"),
        ("0.005", "GBP", "£0.005"),
        # A comma means one thing here and another there: the number stays as it is.
        ("1.299,00", "EUR", "1.299,00 EUR"),
        ("12,50", "CHF", "12,50 CHF"),
        ("free", "EUR", ""),
        ("5", "", ""),
        ("5", "euros", ""),
        ("9" * 40, "EUR", ""),
    ],
)
def test_a_price_is_written_with_its_currency(amount: str, currency: str, shown: str) -> None:
    assert write_price(amount, currency) == shown


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("2024-05-01T14:30:00+02:00", "datepublished", "1 May 2024, 14:30 UTC+02:00"),
        ("2024-05-01T14:30:00", "startdate", "1 May 2024, 14:30"),
        ("2024", "copyrightyear", "2024"),
        ("PT1H5M", "totaltime", "1 hour 5 minutes"),
        ("P100D", "model", ""),
        ("2024-05-01", "sku", ""),
        ("-33.9", "latitude", "33.9000° S"),
        ("91", "latitude", ""),
        ("next tuesday", "startdate", ""),
        ("2024-02-30", "startdate", ""),
    ],
)
def test_only_what_is_certain_is_rewritten(text: str, name: str, shown: str) -> None:
    assert write_value(text, name) == shown


def test_of_a_moment_the_day_alone_can_be_had() -> None:
    assert write_value("2024-05-01T14:30:00Z", "datepublished", has_time=False) == "1 May 2024"
