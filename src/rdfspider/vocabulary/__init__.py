"""What is known of RDF vocabularies, below all stages: names, prefixes, labels, classes, terms and dates."""
