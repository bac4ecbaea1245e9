"""The museum, the library and the university."""

from html import escape

from rdfspider.demo.answers import RDF_XML, TURTLE, DemoAddresses, DemoSite, alternate, link, listing, script
from rdfspider.demo.filler import describe
from rdfspider.demo.world import (
    AUTHORS,
    BOOKS,
    COURSES,
    DISPUTED_YEARS,
    EXHIBITS,
    MAKERS,
    SCHOLARS,
    Book,
    Course,
    Exhibit,
    Person,
    make_key,
    secrets_of,
)

_MUSEUM_PREFIXES = (
    'prefix="crm: http://www.cidoc-crm.org/cidoc-crm/ dcterms: http://purl.org/dc/terms/ foaf: http://xmlns.com/foaf/0.1/ '
    'owl: http://www.w3.org/2002/07/owl#" vocab="https://schema.org/"'
)
(_MASK,) = secrets_of("museum")

_LIBRARY_PREFIXES = (
    'prefix="bibo: http://purl.org/ontology/bibo/ dc: http://purl.org/dc/terms/" vocab="https://schema.org/"'
)
_PAGE_BOOKS = 10
(_HYMNAL,) = secrets_of("library")

_UNIVERSITY = {"@type": "CollegeOrUniversity", "@id": "/#university", "name": "University of Drossen"}
(_FELLOW,) = secrets_of("university")


def make_museum(at: DemoAddresses) -> DemoSite:
    """museum: objects, makers and rooms in RDFa with several vocabularies, without a robots.txt.

    A mirror serves a copy under another name; its URLs are relative, so that the copy is identical to the byte.
    """
    site = DemoSite("Museum of Small Things")
    rooms = list(dict.fromkeys(exhibit.room for exhibit in EXHIBITS))
    menu = [(f"/rooms/{make_key(room)}", room) for room in rooms] + [(_MASK.path, "From the depot")]
    about = '<p typeof="Museum" resource="/#museum"><b property="name">Museum of Small Things</b></p>'
    site.add("/", "Welcome", f"<div {_MUSEUM_PREFIXES}>{about}</div>{listing(menu)}")
    for room in rooms:
        own = [exhibit for exhibit in EXHIBITS if exhibit.room == room]
        links = listing((f"/objects/{exhibit.key}", exhibit.name) for exhibit in own)
        site.add(f"/rooms/{make_key(room)}", room, f"<h1>{room}</h1><p>{describe(room, 'museum')}</p>{links}")
    for exhibit in EXHIBITS:
        site.add(f"/objects/{exhibit.key}", exhibit.name, _write_exhibit(at, exhibit))
    for maker in MAKERS:
        site.add(f"/makers/{maker.key}", maker.name, _write_maker(at, maker))
    mask = f'<p vocab="https://schema.org/" typeof="VisualArtwork"><b property="name">{_MASK.name}</b></p>'
    site.add(_MASK.path, _MASK.name, mask, head='<meta name="robots" content="noindex">')
    return site


def _write_exhibit(at: DemoAddresses, exhibit: Exhibit) -> str:
    return f"""<article {_MUSEUM_PREFIXES} typeof="VisualArtwork crm:E22_Human-Made_Object" resource="/objects/{exhibit.key}#it">
<h1 property="name dcterms:title">{escape(exhibit.name)}</h1>
<p property="description">{describe(exhibit.name)}</p>
<p>Made <span property="dcterms:created">{exhibit.year}</span> by
<a property="creator" typeof="Person" href="/makers/{exhibit.maker.key}"><span property="name">{exhibit.maker.name}</span></a>,
found in <a property="locationCreated" typeof="Place" href="{at.place(exhibit.origin)}"><span
 property="name">{escape(exhibit.origin.name)}</span></a>.</p>
<p property="isPartOf" resource="/#museum">On show in {exhibit.room}.</p></article>"""


def _write_maker(at: DemoAddresses, maker: Person) -> str:
    return f"""<article {_MUSEUM_PREFIXES} typeof="foaf:Person" resource="/makers/{maker.key}">
<h1 property="foaf:name">{maker.name}</h1> <p>Born <span property="birthDate">{maker.born}</span> in
<a property="foaf:based_near" href="{at.place(maker.home)}">{escape(maker.home.name)}</a>.</p>
<p property="dcterms:description">{describe(maker.name, "museum")}</p></article>
<p>{link(at.url("mirror"), "A friend keeps a copy of this museum.")}</p>"""


def make_library(at: DemoAddresses) -> DemoSite:
    """library: books in RDFa, with subjects and authors; authors are also in RDF/XML, which only a Link header refers to."""
    site = DemoSite("Harrowmere Town Library", "User-agent: *\nAllow: /\n")
    subjects = list(dict.fromkeys(book.subject for book in BOOKS))
    menu = [(f"/subjects/{subject}", subject.title()) for subject in subjects]
    menu += [("/authors", "Authors"), ("/books?page=1", "All books"), (_HYMNAL.path, "Reserve")]
    about = f'<p {_LIBRARY_PREFIXES} typeof="Library" resource="/#library"><b property="name">Harrowmere Town Library</b></p>'
    site.add("/", "Welcome", about + listing(menu))
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
        site.add(f"/books/{book.key}", book.title, _write_book(book))
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


def _write_book(book: Book) -> str:
    return f"""<article {_LIBRARY_PREFIXES} typeof="Book bibo:Book" resource="/books/{book.key}#it">
<h1 property="name dc:title">{escape(book.title)}</h1>
<p>by <a property="author dc:creator" typeof="Person" href="/authors/{book.author.key}"><span
 property="name">{book.author.name}</span></a>, <span property="datePublished">{book.year}</span></p>
<p>Class mark <span property="bibo:locator">{book.subject[:3].upper()} {book.year % 100:02} {book.key[:4]}</span>,
subject <span property="about">{book.subject}</span></p>
<p property="description">{describe(book.title)}</p></article>"""


def _write_author(at: DemoAddresses, person: Person) -> str:
    own = [book for book in BOOKS if book.author == person]
    same = f'<link property="sameAs" href="{at.person(person)}">' if person in SCHOLARS else ""
    return f"""<article {_LIBRARY_PREFIXES} typeof="Person" resource="/authors/{person.key}">
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


def make_university(at: DemoAddresses) -> DemoSite:
    """university: people and courses in JSON-LD; each person has a FOAF file in Turtle, linked in the page's head."""
    site = DemoSite("University of Drossen", "User-agent: *\nDisallow:\n")
    departments = list(dict.fromkeys(course.department for course in COURSES))
    menu = [(f"/departments/{make_key(name)}", name) for name in departments]
    menu += [(f"/people/{person.key}", person.name) for person in SCHOLARS]
    menu += [(_FELLOW.path, "Our guest")]
    site.add("/", "Welcome", listing(menu), head=script(_UNIVERSITY))
    for name in departments:
        own = [course for course in COURSES if course.department == name]
        data = {"@type": "Organization", "@id": f"/departments/{make_key(name)}#it", "name": f"Department of {name}"}
        links = listing((f"/courses/{course.key}", course.name) for course in own)
        content = f"<h1>{name}</h1><p>{describe(name, 'department')}</p>{links}"
        site.add(
            f"/departments/{make_key(name)}", name, content, head=script({**data, "parentOrganization": _UNIVERSITY})
        )
    for person in SCHOLARS:
        _add_person(site, at, person)
    for course in COURSES:
        site.add(
            f"/courses/{course.key}",
            course.name,
            f"<h1>{escape(course.name)}</h1><p>{describe(course.name)}</p>"
            + listing([(f"/people/{course.teacher.key}", course.teacher.name), (at.book(course.textbook), "Textbook")]),
            head=script(_describe_course(at, course)),
        )
    fellow = script({"@type": "Person", "name": _FELLOW.name})
    site.add(_FELLOW.path, _FELLOW.name, "<p>To be told.</p>", head=fellow + '<meta name="robots" content="none">')
    return site


def _add_person(site: DemoSite, at: DemoAddresses, person: Person) -> None:
    path = f"/people/{person.key}"
    data = {
        "@type": "Person",
        "@id": path,
        "name": person.name,
        "worksFor": _UNIVERSITY,
        "homeLocation": {"@type": "Place", "@id": at.place(person.home), "name": person.home.name},
        "sameAs": at.author(person),
    }
    head = alternate(f"{path}/foaf.ttl", "text/turtle") + script(data)
    site.add(path, person.name, f"<h1>{person.name}</h1><p>{describe(person.name, 'university')}</p>", head=head)
    books = "".join(f"  foaf:made <{at.book(book)}> ;\n" for book in BOOKS if book.author == person)
    friends = "".join(f"  foaf:knows <{at.person(other)}> ;\n" for other in SCHOLARS if other != person)
    site.add_data(
        f"{path}/foaf.ttl",
        f"""@prefix foaf: <http://xmlns.com/foaf/0.1/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<{path}> a foaf:Person ;
  foaf:name "{person.name}" ;
  foaf:nick "{person.key.partition("-")[0]}" ;
{books}{friends}  rdfs:seeAlso <{at.author(person)}> .
""",
        TURTLE,
    )


def _describe_course(at: DemoAddresses, course: Course) -> dict[str, object]:
    teacher = {"@type": "Person", "@id": f"/people/{course.teacher.key}", "name": course.teacher.name}
    book = course.textbook
    textbook = {
        "@type": "Book",
        "@id": f"{at.book(book)}#it",
        "name": book.title,
        "datePublished": str(DISPUTED_YEARS.get(book.key, book.year)),
    }
    place = {"@type": "CourseInstance", "instructor": teacher, "courseWorkload": "PT4H"}
    return {
        "@type": "Course",
        "@id": f"/courses/{course.key}#it",
        "name": course.name,
        "provider": _UNIVERSITY,
        "hasCourseInstance": place,
        "citation": textbook,
    }
