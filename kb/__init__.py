"""Knowledge: rewriting, search, answers and their checks. Knows nothing of Slack or of where pages come from."""
