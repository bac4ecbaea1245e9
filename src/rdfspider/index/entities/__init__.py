"""The statements of one page in, the entities that it speaks of out."""
