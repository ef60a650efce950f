"""Where pages say different things of the same: `statements` finds it,
by `measures` and `scopes`; `resolution` decides what is said.
"""
