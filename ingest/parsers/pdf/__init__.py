"""Parser of PDF: text, tables and running heads."""
