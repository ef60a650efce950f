"""Parsers of HTML and Markdown, each of which may hold the other."""
