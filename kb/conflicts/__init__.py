"""Where pages say different things of the same: `statements` finds it, by `measures` and `scopes`; `settle` decides what is said."""
