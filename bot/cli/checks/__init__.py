"""`footnote doctor`: what it checks of each part."""
