"""Whether what is said stands in what is cited.

Layer 1, by the letter: `verification` is the one to read; `claim` is one sentence held against a `passage`,
by `facts` (figures, dates, names). Layer 2, by meaning: `judge` asks the small model. `marks` reads citations
out of a model's reply; `untrusted` takes the sting out of links and mentions that no source has; `orders`
finds what a page says to an assistant.
"""

from kb.citations.citation_markers import DraftSentence, Removed
from kb.citations.verification import Verified, check, check_sentence

__all__ = ["DraftSentence", "Removed", "Verified", "check", "check_sentence"]
