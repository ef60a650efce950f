"""A sync: what changed in the sources, in what order it is worked on, and what is recorded of it."""
