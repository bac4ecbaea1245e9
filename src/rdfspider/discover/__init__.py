"""What does a page lead to? Captures and Extractions in, Discovered URLs out."""
