"""recipes: recipes in Microdata, some in broken JSON-LD. Missing pages are soft 404s."""

from collections.abc import Callable
from html import escape

from rdfspider.demo.answers import SCHEMA, DemoAddresses, DemoAnswer, DemoSite, link, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import COOKS, RECIPES, Recipe

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


def make_site(at: DemoAddresses) -> DemoSite:
    """The cookbook, which answers every path with 200."""
    site = DemoSite("The Oxwhistle Cookbook", "User-agent: *\nDisallow: /print/\n")
    courses = list(dict.fromkeys(recipe.course for recipe in RECIPES))
    ways = [(f"/courses/{course}", course.title()) for course in courses]
    ways += [(f"/cooks/{person.key}", person.name) for person in COOKS]
    site.add("/", "Welcome", listing(ways))
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
            site.add(f"/recipes/{recipe.key}", recipe.name, _write_microdata(at, recipe) + foot)
        else:
            broken = _MISTAKES[number // 4 % len(_MISTAKES)](_write_json(at, recipe))
            head = f'<script type="application/ld+json">{broken}</script>\n'
            content = f"<h1>{escape(recipe.name)}</h1><p>{describe(recipe.name)}</p>{foot}"
            site.add(f"/recipes/{recipe.key}", recipe.name, content, head=head)
    site.find_page = lambda path, query, headers: None if path in site.pages else _miss(site)
    return site


def _miss(site: DemoSite) -> DemoAnswer:
    """A soft 404: a page that says it does not exist, with status 200."""
    content = "<h1>Page not found</h1><p>Sorry, this recipe is no longer in our book. Perhaps another one is to your taste?</p>"
    return site.frame("Page not found", content)


def _write_microdata(at: DemoAddresses, recipe: Recipe) -> str:
    return f"""<article itemscope itemtype="{SCHEMA}/Recipe" itemid="/recipes/{recipe.key}#it">
<h1 itemprop="name">{escape(recipe.name)}</h1> <p itemprop="description">{describe(recipe.name)}</p>
<p itemprop="author" itemscope itemtype="{SCHEMA}/Person" itemid="/cooks/{recipe.cook.key}">By
<a itemprop="url" href="/cooks/{recipe.cook.key}"><span itemprop="name">{recipe.cook.name}</span></a></p>
<p>Ready in <time itemprop="totalTime" datetime="PT{recipe.minutes}M">{recipe.minutes} minutes</time>.
Take <span itemprop="recipeIngredient">{escape(recipe.product.name)}</span>.</p></article>"""


def _write_json(at: DemoAddresses, recipe: Recipe) -> str:
    """Written by hand, like JSON with such mistakes."""
    return f"""{{
"@context": "{SCHEMA}", "@type": "Recipe", "@id": "/recipes/{recipe.key}#it",
"name": "{recipe.name}",
"author": {{"@type": "Person", "@id": "/cooks/{recipe.cook.key}", "name": "{recipe.cook.name}"}},
"description": "A dish of the {recipe.course} kind. It is ready in {recipe.minutes} minutes."
}}"""
