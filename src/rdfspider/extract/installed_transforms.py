"""The transforms that installed packages provide: their entry points enter, settings leave.

Every command asks for them, so nothing here imports what runs them (`transforms.py`).
"""

import re

from rdfspider.config import Transform

ENTRY_POINTS = "rdfspider.transforms"
"""The group of entry points under which installed packages provide transforms; the name of an entry point is a media type."""

MEDIA_TYPE = re.compile(r"[\w.+*-]+/[\w.+*-]+")
"""A media type, or a pattern of some."""
FUNCTION = re.compile(r"\w+(?:\.\w+)*:\w+(?:\.\w+)*")
"""A function, as entry points name it."""


def installed_transforms() -> tuple[Transform, ...]:
    """The transforms that installed packages provide, in order of media type and function."""
    # Imported here, because it imports much, and the processes of a crawl are told their settings.
    from importlib import metadata

    found = {
        Transform(name=f"{point.value} for {point.name}", media_type=point.name.lower(), function=point.value)
        for point in metadata.entry_points(group=ENTRY_POINTS)
        if MEDIA_TYPE.fullmatch(point.name) and FUNCTION.fullmatch(point.value)
    }
    return tuple(sorted(found, key=lambda transform: (transform.media_type, transform.function)))
