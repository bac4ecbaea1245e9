"""Missing properties: the things of a page and a profile enter; what each thing lacks leaves.

A profile speaks of things that stand for themselves; what is the value of another thing's property, such as the publisher of an
article, is checked only where the profile says so.
"""

from collections.abc import Iterator, Sequence

from rdfspider.validate.profiles import ClassRules, Profile, Requirement
from rdfspider.validate.statements import SyntaxStatements
from rdfspider.validate.values import Verdict

STANDS_FOR_ITSELF = frozenset(("mainEntity", "itemListElement", "item"))
"""The value of one of these properties is a thing in its own right; that of any other is a part or a mention."""

Missing = tuple[SyntaxStatements, str, str, Verdict]
"""The syntax, the thing, the path below it, and what is wrong."""


def find_missing(syntaxes: Sequence[SyntaxStatements], profile: Profile) -> Iterator[Missing]:
    """Find what things lack that the profile requires or recommends."""
    for one in syntaxes:
        for thing in one.types:
            rules = profile.find_rules(frozenset(one.find_classes(thing).names))
            names = _list_names(thing, one, syntaxes) if rules else set()
            # A class and an address alone refer to something that is described elsewhere.
            if not rules or names <= {"url"}:
                continue
            is_part = _is_part(thing, one)
            for rule in rules:
                if rule.has_parts or not is_part:
                    yield from _compare(rule, thing, names, one, syntaxes, profile)


def _compare(
    rule: ClassRules,
    thing: str,
    names: set[str],
    one: SyntaxStatements,
    syntaxes: Sequence[SyntaxStatements],
    profile: Profile,
) -> Iterator[Missing]:
    for requirement in rule.requirements:
        if not requirement.of:
            is_missing = names.isdisjoint(requirement.names)
        else:
            # A missing value is another finding; one that is not described here may be on another page.
            inside = [
                _list_names(value, one, syntaxes)
                for term, value in one.things.get(thing, ())
                if term.name == requirement.of and value in one.types
            ]
            is_missing = any(found and found.isdisjoint(requirement.names) for found in inside)
        if is_missing:
            classes = one.find_classes(thing)
            name = rule.name if rule.name in classes.names else classes.name
            yield one, thing, requirement.path, _write(requirement, name, profile)


def _write(requirement: Requirement, name: str, profile: Profile) -> Verdict:
    whose = f"{requirement.of} of {name}" if requirement.of else name
    missing = " or ".join(requirement.names[:5])
    rule, word = ("missing-required", "requires") if requirement.is_required else ("missing-recommended", "recommends")
    return Verdict(rule, f"{whose} has no {missing}, which the profile {profile.name} {word}")


def _list_names(thing: str, one: SyntaxStatements, syntaxes: Sequence[SyntaxStatements]) -> set[str]:
    """Return the properties of a thing; those of one with an IRI count together over all syntaxes."""
    if thing[0] == "_":
        return {term.name for term, _ in one.things.get(thing, ())}
    names = {term.name for each in syntaxes for term, _ in each.things.get(thing, ())}
    return names | {"url"} if names and thing.startswith(("<http://", "<https://")) else names


def _is_part(thing: str, one: SyntaxStatements) -> bool:
    above = one.parents.get(thing)
    return above is not None and above[1] not in STANDS_FOR_ITSELF
