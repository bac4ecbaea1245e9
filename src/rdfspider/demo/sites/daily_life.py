"""What people buy, cook and go to: the shop, the cookbook and the events."""

import re
from collections.abc import Callable, Iterator
from html import escape
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from rdfspider.demo.answers import SCHEMA, DemoAddresses, DemoAnswer, DemoSite, link, listing, script
from rdfspider.demo.filler import describe, draw_picture
from rdfspider.demo.world import (
    CALENDAR_END,
    COOKS,
    EVENTS,
    FACETS_END,
    PLACES,
    PRODUCTS,
    RECIPES,
    Event,
    Product,
    Recipe,
    secrets_of,
)

_PAGE_PRODUCTS = 8
_FACETS = {
    "colour": ("grey", "moss", "amber"),
    "size": ("small", "medium", "large"),
    "material": ("wood", "glass", "wool"),
    "origin": ("osk", "drossen", "pelhaven"),
    "season": ("spring", "autumn", "winter"),
    "gift": ("yes", "no", "maybe"),
    "weight": ("light", "middling", "heavy"),
    "price": ("low", "fair", "high"),
}
PICTURED = ("teas", "jams")
"""The categories with pictures; the others have none, as in real shops."""
_CART, _STAFF, _WISHES, _PARTNER, _CLEARANCE = secrets_of("shop")

# Deleted recipes that lists still link to.
_LOST = ("stockfish-pudding", "green-goose", "wedding-eels", "cheese-of-the-moon", "thistle-wine", "fog-cake")
# Common mistakes in JSON: a trailing comma, a comment, single quotes, a line break within a string, a final semicolon.
_MISTAKES: tuple[Callable[[str], str], ...] = (
    lambda text: text.replace("\n}", ",\n}"),
    lambda text: text.replace("{\n", "{ // the recipe\n", 1),
    lambda text: text.replace('"', "'"),
    lambda text: text.replace(". ", ".\n"),
    lambda text: text + ";",
)

VENUES = tuple(place for place in PLACES if place.kind == "building")
_MONTH = re.compile(r"/calendar/(\d{4})/(\d{2})")
_PAGE_EVENTS = 20
(_FEAST,) = secrets_of("events")


def make_shop(at: DemoAddresses) -> DemoSite:
    """shop: products in Microdata or JSON-LD, some with images; pagination, session ids, campaign parameters, endless filters."""
    site = DemoSite(
        "Marsh & Mill",
        "# Nobody but customers and staff\nUser-agent: *\nDisallow: /cart\nDisallow: /account/\nDisallow: /staff/\n",
    )
    categories = list(dict.fromkeys(product.category for product in PRODUCTS))
    menu = [("/products?utm_source=home&utm_medium=banner", "All products"), (_CART.path, "Your cart")]
    menu += [(f"/category/{category}", category.title()) for category in categories]
    menu += [(_STAFF.path, "For our staff"), (_WISHES.path, "Your wishes")]
    seller = {
        "@type": "Store",
        "@id": "/#shop",
        "name": "Marsh & Mill",
        "sameAs": at.url("town", "/people/ina-pelhavner"),
    }
    partner = link(_PARTNER.path, "From our partner", 'rel="sponsored"')
    site.add("/", "Welcome", f"<h1>Marsh &amp; Mill</h1>{listing(menu)}{partner}", head=script(seller))
    for category in categories:
        own = [product for product in PRODUCTS if product.category == category]
        site.add(f"/category/{category}", category.title(), f"<p>{describe(category, 'shop')}</p>{_list_products(own)}")
    for number, product in enumerate(PRODUCTS):
        if image := locate_image(product):
            site.pages[image] = DemoAnswer(draw_picture(product.name), "image/png")
        related = [PRODUCTS[(number + step) % len(PRODUCTS)] for step in (1, 5, 11)]
        content = _write_product(product) if number % 2 else f"<h1>{escape(product.name)}</h1>"
        foot = listing((f"/products/{other.key}?{_make_session(product)}", other.name) for other in related)
        cart = link(f"{_CART.path}?add={product.key}", "Put it into the cart")
        site.add(
            f"/products/{product.key}",
            product.name,
            f"{content}<p>{describe(product.name)}</p>{cart}<h2>Others bought</h2>{foot}",
            head=_point_to(f"/products/{product.key}") + ("" if number % 2 else _write_product_jsonld(product)),
        )
    for secret in (_CART, _STAFF, _WISHES, _PARTNER):
        site.add(secret.path, secret.name, "<p>Not for everybody.</p>", head=_write_secret(secret.name))
    site.find_page = lambda path, query, headers: _find_list(site, path, query)
    return site


def locate_image(product: Product) -> str:
    """The path of a product's picture; empty if it has none."""
    return f"/images/{product.key}.png" if product.category in PICTURED else ""


def _find_list(site: DemoSite, path: str, query: str) -> DemoAnswer | None:
    """The list of products: one of its pages, in some order, or with any number of filters in any order."""
    if path != "/products":
        return None
    asked = dict(parse_qsl(query))
    filters = {name: value for name, value in asked.items() if name in _FACETS}
    if filters:
        return _make_filtered(site, filters)
    page = min(
        max(int(number) if (number := asked.get("page", "1")).isdigit() else 1, 1), -(-len(PRODUCTS) // _PAGE_PRODUCTS)
    )
    shown = PRODUCTS[(page - 1) * _PAGE_PRODUCTS : page * _PAGE_PRODUCTS]
    if asked.get("sort") == "price":
        shown = tuple(sorted(shown, key=lambda product: float(product.price)))
    head = _point_to(f"/products?page={page}")
    menu = [(f"/products?page={page}&sort=price", "Cheapest first"), *_offer_filters({})]
    if page * _PAGE_PRODUCTS < len(PRODUCTS):
        head += f'<link rel="next" href="/products?page={page + 1}">\n'
        menu.append((f"/products?page={page + 1}", "Next page"))
    return site.frame(f"Products, page {page}", _list_products(shown) + listing(menu), head=head)


def _make_filtered(site: DemoSite, filters: dict[str, str]) -> DemoAnswer:
    chosen = ", ".join(f"{name} {value}" for name, value in filters.items())
    shown = [product for product in PRODUCTS if crc32(f"{product.key} {sorted(filters.items())}".encode()) % 5 == 0]
    head = _write_secret(_CLEARANCE.name) if len(filters) >= FACETS_END else ""
    return site.frame(f"Products: {chosen}", _list_products(shown) + listing(_offer_filters(filters)), head=head)


def _offer_filters(filters: dict[str, str]) -> Iterator[tuple[str, str]]:
    for name, values in _FACETS.items():
        if name not in filters:
            for value in values:
                yield f"/products?{urlencode({**filters, name: value})}", f"{name}: {value}"


def _list_products(products: tuple[Product, ...] | list[Product]) -> str:
    return listing(
        (f"/products/{product.key}?utm_campaign=list", f"{product.name}, {product.price}") for product in products
    )


def _make_session(product: Product) -> str:
    """A session id, as if every visitor had one and every page were a new visit."""
    return f"PHPSESSID={crc32(product.key.encode()):08x}"


def _point_to(path: str) -> str:
    return f'<link rel="canonical" href="{escape(path)}">\n'


def _write_secret(name: str) -> str:
    return script({"@type": "Product", "name": name})


def _write_product_jsonld(product: Product) -> str:
    offer = {"@type": "Offer", "price": product.price, "priceCurrency": "EUR", "seller": {"@id": "/#shop"}}
    data = {
        "@type": "Product",
        "@id": f"/products/{product.key}#it",
        "name": product.name,
        "category": product.category,
    }
    if image := locate_image(product):
        data["image"] = image
    return script({**data, "offers": offer})


def _write_product(product: Product) -> str:
    image = locate_image(product)
    picture = f'<img itemprop="image" src="{image}" alt="">' if image else ""
    return f"""<div itemscope itemtype="{SCHEMA}/Product" itemid="/products/{product.key}#it">
<h1 itemprop="name">{escape(product.name)}</h1> <span itemprop="category">{product.category}</span>{picture}
<p itemprop="offers" itemscope itemtype="{SCHEMA}/Offer"><span itemprop="price" content="{product.price}">{product.price}</span>
<meta itemprop="priceCurrency" content="EUR"><link itemprop="seller" href="/#shop"></p></div>"""


def make_cookbook(at: DemoAddresses) -> DemoSite:
    """recipes: recipes in Microdata, some in broken JSON-LD. Missing pages are soft 404s: every path is answered with 200."""
    site = DemoSite("The Oxwhistle Cookbook", "User-agent: *\nDisallow: /print/\n")
    courses = list(dict.fromkeys(recipe.course for recipe in RECIPES))
    menu = [(f"/courses/{course}", course.title()) for course in courses]
    menu += [(f"/cooks/{person.key}", person.name) for person in COOKS]
    site.add("/", "Welcome", listing(menu))
    for number, course in enumerate(courses):
        own = [(f"/recipes/{recipe.key}", recipe.name) for recipe in RECIPES if recipe.course == course]
        own += [(f"/recipes/{key}", key.replace("-", " ").title()) for key in _LOST[number::5]]
        content = f"<h1>{course.title()}</h1><p>{describe(course, 'recipes')}</p>{listing(own)}"
        site.add(f"/courses/{course}", course.title(), content)
    for person in COOKS:
        own = [(f"/recipes/{recipe.key}", recipe.name) for recipe in RECIPES if recipe.cook == person]
        content = f"""<div itemscope itemtype="{SCHEMA}/Person" itemid="/cooks/{person.key}">
<h1 itemprop="name">{person.name}</h1>
<p itemprop="description">{describe(person.name, "recipes")}</p>
<link itemprop="homeLocation" href="{at.place(person.home)}"></div>{listing(own)}"""
        site.add(f"/cooks/{person.key}", person.name, content)
    for number, recipe in enumerate(RECIPES):
        foot = link(at.product(recipe.product), f"With {recipe.product.name}") + link(f"/print/{recipe.key}", "Print")
        if number % 4:
            site.add(f"/recipes/{recipe.key}", recipe.name, _write_recipe(recipe) + foot)
        else:
            broken = _MISTAKES[number // 4 % len(_MISTAKES)](_write_recipe_json(recipe))
            head = f'<script type="application/ld+json">{broken}</script>\n'
            content = f"<h1>{escape(recipe.name)}</h1><p>{describe(recipe.name)}</p>{foot}"
            site.add(f"/recipes/{recipe.key}", recipe.name, content, head=head)
    site.find_page = lambda path, query, headers: None if path in site.pages else _miss(site)
    return site


def _miss(site: DemoSite) -> DemoAnswer:
    """A soft 404: a page that says it does not exist, with status 200."""
    content = "<h1>Page not found</h1><p>Sorry, this recipe is no longer in our book. Perhaps another one is to your taste?</p>"
    return site.frame("Page not found", content)


def _write_recipe(recipe: Recipe) -> str:
    return f"""<article itemscope itemtype="{SCHEMA}/Recipe" itemid="/recipes/{recipe.key}#it">
<h1 itemprop="name">{escape(recipe.name)}</h1> <p itemprop="description">{describe(recipe.name)}</p>
<p itemprop="author" itemscope itemtype="{SCHEMA}/Person" itemid="/cooks/{recipe.cook.key}">By
<a itemprop="url" href="/cooks/{recipe.cook.key}"><span itemprop="name">{recipe.cook.name}</span></a></p>
<p>Ready in <time itemprop="totalTime" datetime="PT{recipe.minutes}M">{recipe.minutes} minutes</time>.
Take <span itemprop="recipeIngredient">{escape(recipe.product.name)}</span>.</p></article>"""


def _write_recipe_json(recipe: Recipe) -> str:
    """Written by hand, like JSON with such mistakes."""
    return f"""{{
"@context": "{SCHEMA}", "@type": "Recipe", "@id": "/recipes/{recipe.key}#it",
"name": "{recipe.name}",
"author": {{"@type": "Person", "@id": "/cooks/{recipe.cook.key}", "name": "{recipe.cook.name}"}},
"description": "A dish of the {recipe.course} kind. It is ready in {recipe.minutes} minutes."
}}"""


def make_events(at: DemoAddresses) -> DemoSite:
    """events: events and venues in JSON-LD, and a calendar with endless links to the next and previous month."""
    site = DemoSite("What Is On", "User-agent: *\nDisallow: /tickets/\n")
    menu = [("/list/1", "All events"), ("/calendar/2026/03", "Calendar")]
    menu += [(f"/venues/{place.key}", place.name) for place in VENUES]
    site.add("/", "Welcome", listing(menu), head=script({"@type": "WebSite", "@id": "/#site", "name": "What Is On"}))
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
    site.find_page = lambda path, query, headers: _find_month(site, path)
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


def _find_month(site: DemoSite, path: str) -> DemoAnswer | None:
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
