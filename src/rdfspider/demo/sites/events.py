"""events: events and venues in JSON-LD, and a calendar with endless links to the next and previous month."""

import re
from collections.abc import Mapping
from html import escape

from rdfspider.demo.answers import DemoAddresses, DemoAnswer, DemoSite, listing, script
from rdfspider.demo.filler import describe
from rdfspider.demo.world import CALENDAR_END, EVENTS, PLACES, Event, secrets_of

VENUES = tuple(place for place in PLACES if place.kind == "building")
_MONTH = re.compile(r"/calendar/(\d{4})/(\d{2})")
_PAGE_EVENTS = 20
(_FEAST,) = secrets_of("events")


def make_site(at: DemoAddresses) -> DemoSite:
    """The events."""
    site = DemoSite("What Is On", "User-agent: *\nDisallow: /tickets/\n")
    ways = [("/list/1", "All events"), ("/calendar/2026/03", "Calendar")]
    ways += [(f"/venues/{place.key}", place.name) for place in VENUES]
    site.add("/", "Welcome", listing(ways), head=script({"@type": "WebSite", "@id": "/#site", "name": "What Is On"}))
    for page, start in enumerate(range(0, len(EVENTS), _PAGE_EVENTS), 1):
        links = [(f"/events/{event.key}", event.name) for event in EVENTS[start : start + _PAGE_EVENTS]]
        more = [(f"/list/{page + 1}", "More")] if start + _PAGE_EVENTS < len(EVENTS) else []
        site.add(f"/list/{page}", f"All events, page {page}", listing(links + more))
    for place in VENUES:
        data = {"@type": "EventVenue", "@id": f"/venues/{place.key}#it", "name": place.name, "sameAs": at.place(place)}
        content = f"<h1>{escape(place.name)}</h1><p>{describe(place.name, 'venue')}</p>"
        site.add(f"/venues/{place.key}", place.name, content, head=script(data))
    for event in EVENTS:
        content = f"<h1>{escape(event.name)}</h1><p>{event.day}, {event.kind}</p><p>{describe(event.name)}</p>"
        site.add(f"/events/{event.key}", event.name, content, head=script(_describe_event(at, event)))
    site.find_page = lambda path, query, headers: _find_month(site, path, headers)
    return site


def _describe_event(at: DemoAddresses, event: Event) -> dict[str, object]:
    return {
        "@type": "Event",
        "@id": f"/events/{event.key}#it",
        "name": event.name,
        "startDate": event.day.isoformat(),
        "location": {"@type": "Place", "name": event.place.name, "sameAs": at.place(event.place)},
        "organizer": {"@type": "Person", "@id": at.person(event.host), "name": event.host.name},
    }


def _find_month(site: DemoSite, path: str, headers: Mapping[str, str]) -> DemoAnswer | None:
    match = _MONTH.fullmatch(path)
    if match is None:
        return None
    year, month = int(match[1]), int(match[2])
    if not 1 <= month <= 12:
        return None
    around = [divmod(year * 12 + month - 1 + step, 12) for step in (-1, 1)]
    links = [(f"/calendar/{year:04}/{month + 1:02}", f"{year}-{month + 1:02}") for year, month in around if year < 9999]
    links += [
        (f"/events/{event.key}", event.name) for event in EVENTS if (event.day.year, event.day.month) == (year, month)
    ]
    head = script({"@type": "Event", "name": _FEAST.name}) if year >= CALENDAR_END else ""
    return site.frame(f"{year}-{month:02}", f"<h1>{year}-{month:02}</h1>{listing(links)}", head=head)
