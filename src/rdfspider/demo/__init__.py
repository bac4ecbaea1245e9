"""A small web of our own: a dozen sites about one invented world, with the virtues and faults of the real web."""
