"""university: people and courses in JSON-LD; each person has a FOAF file in Turtle, linked in the page's head."""

from html import escape

from rdfspider.demo.answers import TURTLE, DemoAddresses, DemoSite, alternate, listing, script
from rdfspider.demo.filler import describe
from rdfspider.demo.world import BOOKS, COURSES, DISPUTED_YEARS, SCHOLARS, Course, Person, make_key, secrets_of

_HOME = {"@type": "CollegeOrUniversity", "@id": "/#university", "name": "University of Drossen"}
(_FELLOW,) = secrets_of("university")


def make_site(at: DemoAddresses) -> DemoSite:
    """The university."""
    site = DemoSite("University of Drossen", "User-agent: *\nDisallow:\n")
    departments = list(dict.fromkeys(course.department for course in COURSES))
    ways = [(f"/departments/{make_key(name)}", name) for name in departments]
    ways += [(f"/people/{person.key}", person.name) for person in SCHOLARS]
    ways += [(_FELLOW.path, "Our guest")]
    site.add("/", "Welcome", listing(ways), head=script(_HOME))
    for name in departments:
        own = [course for course in COURSES if course.department == name]
        data = {"@type": "Organization", "@id": f"/departments/{make_key(name)}#it", "name": f"Department of {name}"}
        links = listing((f"/courses/{course.key}", course.name) for course in own)
        content = f"<h1>{name}</h1><p>{describe(name, 'department')}</p>{links}"
        site.add(f"/departments/{make_key(name)}", name, content, head=script({**data, "parentOrganization": _HOME}))
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
        "worksFor": _HOME,
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
        "provider": _HOME,
        "hasCourseInstance": place,
        "citation": textbook,
    }
