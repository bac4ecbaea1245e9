"""The ledger (SQLite) beside the text index: which page speaks of which entity, and how often every name is used."""
