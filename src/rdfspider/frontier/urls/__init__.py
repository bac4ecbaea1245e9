"""URLs: which were seen, how they become scheduled, leased and finished, and when they are due again."""
