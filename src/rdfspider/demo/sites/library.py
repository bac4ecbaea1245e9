"""library: books in RDFa, with subjects and authors; authors are also in RDF/XML, which only a Link header refers to."""

from html import escape

from rdfspider.demo.answers import RDF_XML, DemoAddresses, DemoSite, listing
from rdfspider.demo.filler import describe
from rdfspider.demo.world import AUTHORS, BOOKS, SCHOLARS, Book, Person, secrets_of

_PREFIXES = 'prefix="bibo: http://purl.org/ontology/bibo/ dc: http://purl.org/dc/terms/" vocab="https://schema.org/"'
_PAGE_BOOKS = 10
(_HYMNAL,) = secrets_of("library")


def make_site(at: DemoAddresses) -> DemoSite:
    """The library."""
    site = DemoSite("Harrowmere Town Library", "User-agent: *\nAllow: /\n")
    subjects = list(dict.fromkeys(book.subject for book in BOOKS))
    ways = [(f"/subjects/{subject}", subject.title()) for subject in subjects]
    ways += [("/authors", "Authors"), ("/books?page=1", "All books"), (_HYMNAL.path, "Reserve")]
    about = f'<p {_PREFIXES} typeof="Library" resource="/#library"><b property="name">Harrowmere Town Library</b></p>'
    site.add("/", "Welcome", about + listing(ways))
    site.add("/authors", "Authors", listing((f"/authors/{person.key}", person.name) for person in AUTHORS))
    for subject in subjects:
        own = [book for book in BOOKS if book.subject == subject]
        content = f"<h1>{subject.title()}</h1><p>{describe(subject, 'library')}</p>{_list_books(own)}"
        site.add(f"/subjects/{subject}", subject.title(), content)
    pages = range(1, len(BOOKS) // _PAGE_BOOKS + 1)
    for page in pages:
        more = [(f"/books?page={page + 1}", "Next")] if page + 1 in pages else []
        shown = sorted(BOOKS, key=lambda book: book.title)[(page - 1) * _PAGE_BOOKS : page * _PAGE_BOOKS]
        site.add(f"/books?page={page}", f"All books, page {page}", _list_books(shown) + listing(more))
    for book in BOOKS:
        site.add(f"/books/{book.key}", book.title, _write_book(at, book))
    for person in AUTHORS:
        path = f"/authors/{person.key}"
        other = ("Link", f'<{path}.rdf>; rel="alternate"; type="{RDF_XML}"')
        site.add(path, person.name, _write_author(at, person), headers=(other,))
        site.add_data(f"{path}.rdf", _write_rdf_xml(at, person), RDF_XML)
    hymnal = f'<p vocab="https://schema.org/" typeof="Book"><b property="name">{_HYMNAL.name}</b></p>'
    site.add(_HYMNAL.path, _HYMNAL.name, hymnal, headers=(("X-Robots-Tag", "noindex"),))
    return site


def _list_books(books: list[Book]) -> str:
    return listing((f"/books/{book.key}", book.title) for book in books)


def _write_book(at: DemoAddresses, book: Book) -> str:
    return f"""<article {_PREFIXES} typeof="Book bibo:Book" resource="/books/{book.key}#it">
<h1 property="name dc:title">{escape(book.title)}</h1>
<p>by <a property="author dc:creator" typeof="Person" href="/authors/{book.author.key}"><span
 property="name">{book.author.name}</span></a>, <span property="datePublished">{book.year}</span></p>
<p>Class mark <span property="bibo:locator">{book.subject[:3].upper()} {book.year % 100:02} {book.key[:4]}</span>,
subject <span property="about">{book.subject}</span></p>
<p property="description">{describe(book.title)}</p></article>"""


def _write_author(at: DemoAddresses, person: Person) -> str:
    own = [book for book in BOOKS if book.author == person]
    same = f'<link property="sameAs" href="{at.person(person)}">' if person in SCHOLARS else ""
    return f"""<article {_PREFIXES} typeof="Person" resource="/authors/{person.key}">
<h1 property="name">{person.name}</h1> {same}<p property="description">{describe(person.name, "library")}</p>
</article>{_list_books(own)}"""


def _write_rdf_xml(at: DemoAddresses, person: Person) -> str:
    made = "".join(f'\n    <foaf:made rdf:resource="/books/{book.key}#it"/>' for book in BOOKS if book.author == person)
    return f"""<?xml version="1.0" encoding="utf-8"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:foaf="http://xmlns.com/foaf/0.1/"
    xmlns:bio="http://purl.org/vocab/bio/0.1/" xmlns:owl="http://www.w3.org/2002/07/owl#">
  <foaf:Person rdf:about="/authors/{person.key}">
    <foaf:name>{person.name}</foaf:name>
    <bio:birth>{person.born}</bio:birth>
    <foaf:based_near rdf:resource="{at.place(person.home)}"/>
    <owl:sameAs rdf:resource="{at.person(person)}"/>{made}
  </foaf:Person>
</rdf:RDF>
"""
