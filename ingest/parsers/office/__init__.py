"""Parsers of documents, spreadsheets and slides of Office and LibreOffice."""
