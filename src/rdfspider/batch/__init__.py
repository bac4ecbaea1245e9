"""Files and archives in, extracted pages out: many processes share the work, results keep the order of the sources."""
