"""Where pages disagree about the same fact: `statements` finds it, `resolution` decides what is said."""
