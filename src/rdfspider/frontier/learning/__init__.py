"""What is learned while crawling: which URLs look alike, what they have given, and how soon the next is fetched."""
