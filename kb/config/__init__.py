"""Settings: read once at start from `footnote.toml`, the environment and the command line."""
