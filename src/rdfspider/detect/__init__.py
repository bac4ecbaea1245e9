"""A `Page` enters, its `Content` leaves: media type, kind, charset, decoded text, XML root. `content` decides by header, file
name and first bytes; `charsets` decodes as the WHATWG specifies; `media_types` holds the tables. Nothing here fails: unknown
content is reported as unknown."""
