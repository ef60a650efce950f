"""From what was found to what is replied: `written` by a model, or `quoted` from the pages; both read `reading`."""
