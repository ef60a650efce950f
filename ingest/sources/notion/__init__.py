"""Notion, through an internal integration."""
