"""The link graph."""
