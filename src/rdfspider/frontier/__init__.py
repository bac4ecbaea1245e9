"""Which URL next? Everything that is known of URLs and hosts, and the pace of asking them."""
