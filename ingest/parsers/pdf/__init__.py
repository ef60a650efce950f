"""PDF: text, tables and running heads."""
