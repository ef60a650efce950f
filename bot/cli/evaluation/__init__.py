"""`footnote eval`: one module for each kind of evaluation, and what they share."""
