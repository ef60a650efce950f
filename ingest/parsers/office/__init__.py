"""Documents, spreadsheets and slides of Office and LibreOffice."""
