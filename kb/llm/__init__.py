"""The language model: `client` is the one to read; the rest are its endpoint, its requests, its stream, its failures.

Nothing is imported here: the client's SDK takes two seconds, and `stream` is used without it where there is no model.
"""
