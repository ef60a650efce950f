"""Builds every part from the settings: the only place that knows all three rooms."""
