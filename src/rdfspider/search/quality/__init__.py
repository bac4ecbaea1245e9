"""A site in, a report on the quality of its structured data out."""
