"""The text index (tantivy): what writes its documents, and what asks it: query language, ranking, facets, snippets, spelling."""
