"""A question in, results out: by words, by entity, by SPARQL, by counts."""
