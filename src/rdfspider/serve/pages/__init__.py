"""The pages of the site, a module each: what a browser asks for enters as an Ask, what it is shown leaves as a View."""
