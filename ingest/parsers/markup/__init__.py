"""HTML and Markdown, which hold each other."""
