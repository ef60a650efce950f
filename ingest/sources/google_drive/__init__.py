"""Google Drive by its API."""
