"""Public pages of websites."""
