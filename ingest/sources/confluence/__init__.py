"""Confluence Cloud and Data Center."""
