"""The archive's log in, indexes on disk out: quads, words, entities. Every index is a view of the log, and can be made again."""
