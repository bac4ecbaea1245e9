"""What is thought of a fetched page: what it asks of crawlers, whether it repeats another, whether it says that it is none."""
