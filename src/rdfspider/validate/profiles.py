"""Profiles: the name of a bundled one, or a TOML file of the user's, enters; which rules hold, and what classes need, leaves.

The bundled ones are the files in `profiles/`. A profile may extend another, and says only what differs from it.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from rdfspider.errors import UsageError
from rdfspider.validate.findings import RULES, Severity
from rdfspider.vocabulary.classes import list_known_classes
from rdfspider.vocabulary.schema_terms import find_lineage, load_properties

OFF = "off"
"""Instead of a severity: the rule does not hold."""
_MOST = 4_096
"""The most sets of classes whose rules are remembered; pages can invent any number of them."""
_KEYS = frozenset(("title", "extends", "severity", "classes", "vocabularies"))
_CLASS_KEYS = frozenset(("required", "recommended", "subclasses", "parts"))


@dataclass(frozen=True, slots=True)
class Requirement:
    """A property that things of a class should have."""

    names: tuple[str, ...]
    """Short names; any one of them is enough."""
    of: str = ""
    """The property whose value should have it, by short name: `offers` for a product's price. Empty for the thing itself."""
    is_required: bool = False

    @property
    def path(self) -> str:
        """The path of short names: `offers.price`."""
        return f"{self.of}.{self.names[0]}" if self.of else self.names[0]


@dataclass(frozen=True, slots=True)
class ClassRules:
    """What things of a class should have."""

    name: str
    requirements: tuple[Requirement, ...]
    has_subclasses: bool = True
    """Whether it holds for subclasses without rules of their own."""
    has_parts: bool = False
    """Whether it also holds for things that are the value of another thing's property."""


@dataclass(frozen=True)
class Profile:
    """Which rules hold, and how bad it is to break them."""

    name: str
    title: str = ""
    severities: Mapping[str, Severity | None] = field(default_factory=dict)
    """By rule, where they differ from the table of rules; None for a rule that does not hold."""
    classes: Mapping[str, ClassRules] = field(default_factory=dict)
    """By the short names of classes of schema.org."""
    vocabularies: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The terms of other vocabularies, by namespace."""

    @cached_property
    def _found(self) -> dict[frozenset[str], tuple[ClassRules, ...]]:
        return {}

    def find_severity(self, rule: str) -> Severity | None:
        """Return the severity of a rule; None if it does not hold."""
        return self.severities[rule] if rule in self.severities else RULES[rule].severity

    def find_rules(self, names: frozenset[str]) -> tuple[ClassRules, ...]:
        """Return the rules for a thing of these classes: of each its own, else those of its nearest superclass."""
        found = self._found.get(names)
        if found is None:
            if len(self._found) >= _MOST:
                self._found.clear()
            rules = {rule.name: rule for name in sorted(names) if (rule := self._find_rule(name))}
            found = self._found[names] = tuple(rules.values())
        return found

    def _find_rule(self, name: str) -> ClassRules | None:
        if name in self.classes:
            return self.classes[name]
        above = [rule for each in find_lineage(name) if (rule := self.classes.get(each)) and rule.has_subclasses]
        # The nearest one has the most superclasses itself.
        return max(above, key=lambda rule: (len(find_lineage(rule.name)), rule.name), default=None)


def list_profiles() -> list[str]:
    """List the names of the bundled profiles."""
    return sorted(
        path.name.removesuffix(".toml")
        for path in files(__package__).joinpath("profiles").iterdir()
        if path.name.endswith(".toml")
    )


@cache
def load_profile(name: str) -> Profile:
    """Load a bundled profile by name, or one of the user's by the path of its file; UsageError if it is not right."""
    if name in list_profiles():
        return _read(name, files(__package__).joinpath("profiles", f"{name}.toml").read_text("utf-8"))
    path = Path(name)
    if path.suffix != ".toml" and not path.exists():
        raise UsageError(
            f"--profile {name}: no such profile; there are {', '.join(list_profiles())}, or name a file, such as mine.toml"
        )
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--profile {name}: it cannot be read: {getattr(error, 'strerror', None) or error}") from error
    return _read(name, text)


def _read(name: str, text: str) -> Profile:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"profile {name}: not TOML: {error}") from error
    except RecursionError as error:
        raise UsageError(f"profile {name}: it is nested too deep") from error
    _refuse_others(name, "", table, _KEYS)
    for key in ("classes", "vocabularies"):
        if not isinstance(table.get(key, {}), dict):
            raise UsageError(f"profile {name}: {key}: it may be a table")
    below = table.get("extends")
    if below is not None and below not in list_profiles():
        raise UsageError(f"profile {name}: extends = {below!r}: it may be one of {', '.join(list_profiles())}")
    under = load_profile(below) if below else Profile("")
    return Profile(
        name=Path(name).stem,
        title=str(table.get("title", "")),
        severities={**under.severities, **_read_severities(name, table.get("severity", {}))},
        classes={
            **under.classes,
            **{each: _read_class(name, each, rules) for each, rules in table.get("classes", {}).items()},
        },
        vocabularies={
            **under.vocabularies,
            **{
                space: frozenset(_list_words(name, space, terms))
                for space, terms in table.get("vocabularies", {}).items()
            },
        },
    )


def _read_severities(name: str, table: Mapping[str, Any]) -> dict[str, Severity | None]:
    _refuse_others(name, "severity.", table, RULES.keys())
    for rule, severity in table.items():
        if severity not in (*Severity, OFF):
            raise UsageError(
                f"profile {name}: severity.{rule} = {severity!r}: it may be {', '.join(Severity)} or {OFF}"
            )
    return {rule: None if severity == OFF else Severity(severity) for rule, severity in table.items()}


def _read_class(name: str, each: str, table: Any) -> ClassRules:
    if each not in list_known_classes():
        raise UsageError(f"profile {name}: classes.{each}: schema.org has no such class")
    if not isinstance(table, dict):
        raise UsageError(f"profile {name}: classes.{each}: it may be a table with {', '.join(sorted(_CLASS_KEYS))}")
    _refuse_others(name, f"classes.{each}.", table, _CLASS_KEYS)
    requirements = tuple(
        _read_requirement(name, each, word, key == "required")
        for key in ("required", "recommended")
        for word in _list_words(name, f"classes.{each}.{key}", table.get(key, ""))
    )
    return ClassRules(each, requirements, bool(table.get("subclasses", True)), bool(table.get("parts", False)))


def _list_words(name: str, place: str, value: Any) -> list[str]:
    """Return the words of a text, or of a list of texts."""
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts):
        raise UsageError(f"profile {name}: {place}: it may be a text of names with blanks between, or a list of names")
    return [word for text in texts for word in text.split()]


def _read_requirement(name: str, each: str, word: str, is_required: bool) -> Requirement:
    before, dot, after = word.partition(".")
    names = tuple((after if dot else before).split("|"))
    for unknown in {*names, *([before] if dot else [])} - load_properties().keys():
        raise UsageError(f"profile {name}: classes.{each}: {unknown}: schema.org has no such property")
    return Requirement(names, before if dot else "", is_required)


def _refuse_others(name: str, place: str, table: Any, keys: Any) -> None:
    if not isinstance(table, dict):
        raise UsageError(f"profile {name}: {place.rstrip('.')}: it may be a table")
    for key in table.keys() - keys:
        raise UsageError(f"profile {name}: {place}{key}: not known; known are {', '.join(sorted(keys))}")
