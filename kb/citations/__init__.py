"""Whether what is said stands in what is cited.

Layer 1, by the letter: `verification` is the one to read; `sentence_check` holds one sentence against a `passage`
by `facts` (figures, dates, names). Layer 2, by meaning: `judge` asks the small model. `citation_markers` reads
citations out of a model's reply; `sanitize` defuses links and mentions that no source has; `prompt_injection` finds
orders to an assistant in a page.
"""

from kb.citations.citation_markers import DraftSentence, Removed
from kb.citations.verification import Verified, check, check_sentence

__all__ = ["DraftSentence", "Removed", "Verified", "check", "check_sentence"]
