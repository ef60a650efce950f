"""The file of a backup: how it is written, read and checked."""
