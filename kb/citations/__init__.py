"""Whether what is said stands in what is cited.

`verification` is the one to read. `claim` makes the case for one sentence and `support` for what its passages say to
that, out of `facts` (numbers, dates, names), `polarity` (yes and no, out of `denials` and `limits`) and `substitution`
(words in the place of the page's own, by `strangers` and `synonyms`). `marks` reads citations out of a model's reply;
`untrusted` takes the sting out of links and mentions that no source has; `wordnet_file` makes what `synonyms` reads.
"""

from kb.citations.claim import Removed
from kb.citations.verification import Similarity, Verified, verify

__all__ = ["Removed", "Similarity", "Verified", "verify"]
