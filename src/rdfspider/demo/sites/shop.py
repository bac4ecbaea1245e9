"""shop: products in Microdata or JSON-LD, some with images; pagination, session ids, campaign parameters, endless filters."""

from collections.abc import Iterator, Mapping
from html import escape
from urllib.parse import parse_qsl, urlencode
from zlib import crc32

from rdfspider.demo.answers import SCHEMA, DemoAddresses, DemoAnswer, DemoSite, link, listing, script
from rdfspider.demo.filler import describe, draw_picture
from rdfspider.demo.world import FACETS_END, PRODUCTS, Product, secrets_of

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


def make_site(at: DemoAddresses) -> DemoSite:
    """The shop."""
    site = DemoSite(
        "Marsh & Mill",
        "# Nobody but customers and staff\nUser-agent: *\nDisallow: /cart\nDisallow: /account/\nDisallow: /staff/\n",
    )
    categories = list(dict.fromkeys(product.category for product in PRODUCTS))
    ways = [("/products?utm_source=home&utm_medium=banner", "All products"), (_CART.path, "Your cart")]
    ways += [(f"/category/{category}", category.title()) for category in categories]
    ways += [(_STAFF.path, "For our staff"), (_WISHES.path, "Your wishes")]
    seller = {
        "@type": "Store",
        "@id": "/#shop",
        "name": "Marsh & Mill",
        "sameAs": at.url("town", "/people/ina-pelhavner"),
    }
    partner = link(_PARTNER.path, "From our partner", 'rel="sponsored"')
    site.add("/", "Welcome", f"<h1>Marsh &amp; Mill</h1>{listing(ways)}{partner}", head=script(seller))
    for category in categories:
        own = [product for product in PRODUCTS if product.category == category]
        site.add(f"/category/{category}", category.title(), f"<p>{describe(category, 'shop')}</p>{_list_products(own)}")
    for number, product in enumerate(PRODUCTS):
        if image := locate_image(product):
            site.pages[image] = DemoAnswer(draw_picture(product.name), "image/png")
        related = [PRODUCTS[(number + step) % len(PRODUCTS)] for step in (1, 5, 11)]
        content = _write_microdata(product) if number % 2 else f"<h1>{escape(product.name)}</h1>"
        foot = listing((f"/products/{other.key}?{_make_session(product)}", other.name) for other in related)
        cart = link(f"{_CART.path}?add={product.key}", "Put it into the cart")
        site.add(
            f"/products/{product.key}",
            product.name,
            f"{content}<p>{describe(product.name)}</p>{cart}<h2>Others bought</h2>{foot}",
            head=_point_to(f"/products/{product.key}") + ("" if number % 2 else _write_jsonld(product)),
        )
    for secret in (_CART, _STAFF, _WISHES, _PARTNER):
        site.add(secret.path, secret.name, "<p>Not for everybody.</p>", head=_write_secret(secret.name))
    site.find_page = lambda path, query, headers: _find_list(site, path, query, headers)
    return site


def locate_image(product: Product) -> str:
    """The path of a product's picture; empty if it has none."""
    return f"/images/{product.key}.png" if product.category in PICTURED else ""


def _find_list(site: DemoSite, path: str, query: str, headers: Mapping[str, str]) -> DemoAnswer | None:
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
    ways = [(f"/products?page={page}&sort=price", "Cheapest first"), *_offer_filters({})]
    if page * _PAGE_PRODUCTS < len(PRODUCTS):
        head += f'<link rel="next" href="/products?page={page + 1}">\n'
        ways.append((f"/products?page={page + 1}", "Next page"))
    return site.frame(f"Products, page {page}", _list_products(shown) + listing(ways), head=head)


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


def _write_jsonld(product: Product) -> str:
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


def _write_microdata(product: Product) -> str:
    image = locate_image(product)
    picture = f'<img itemprop="image" src="{image}" alt="">' if image else ""
    return f"""<div itemscope itemtype="{SCHEMA}/Product" itemid="/products/{product.key}#it">
<h1 itemprop="name">{escape(product.name)}</h1> <span itemprop="category">{product.category}</span>{picture}
<p itemprop="offers" itemscope itemtype="{SCHEMA}/Offer"><span itemprop="price" content="{product.price}">{product.price}</span>
<meta itemprop="priceCurrency" content="EUR"><link itemprop="seller" href="/#shop"></p></div>"""
