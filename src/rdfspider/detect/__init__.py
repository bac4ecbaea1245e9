"""What is this Page? Its media type, charset, XML root, and the syntaxes that it may hold."""
