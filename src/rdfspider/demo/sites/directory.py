"""www: a list of all sites in JSON-LD, where the crawl starts."""

from rdfspider.demo.answers import DemoAddresses, DemoSite, listing, script

SITES = {
    "shop": "Marsh & Mill, a shop",
    "museum": "Museum of Small Things",
    "university": "University of Drossen",
    "library": "Harrowmere Town Library",
    "blog": "Bad Light, a blog about books",
    "events": "What is on around Lake Amble",
    "recipes": "The Oxwhistle Cookbook",
    "data": "Places of the North as Linked Data",
    "portal": "Open Data Lake Amble",
    "town": "Harrowmere Herald, the town's newspaper",
    "old": "Harrowmere Herald, where it used to be",
}
"""Every site but this one and the museum's mirror, with its title by name."""


def make_site(at: DemoAddresses) -> DemoSite:
    """The directory."""
    site = DemoSite("Sites around Lake Amble")
    parts = [{"@type": "WebSite", "@id": at.url(name), "name": title} for name, title in SITES.items()]
    links = listing((at.url(name), title) for name, title in SITES.items())
    site.add("/", "All sites", links, head=script({"@type": "CollectionPage", "@id": "/", "hasPart": parts}))
    return site
