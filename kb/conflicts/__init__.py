"""Where pages disagree about the same fact: `statements` finds it,
by `measures` and `scopes`; `resolution` decides what is said.
"""
