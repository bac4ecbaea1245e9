"""URLs: which were seen, how they are scheduled, leased and finished, and when they are due again."""
