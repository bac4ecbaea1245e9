"""SPARQL over snapshots of the quad store, in processes that are killed at their limits."""
