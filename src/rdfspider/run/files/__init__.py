"""Files and archives → extracted pages: many processes share the work, results keep the order of the sources."""
