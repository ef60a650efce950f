"""Whether what is said stands in what is cited.

`verification` is the one to read. `support` makes the case for one sentence, out of its `facts` (numbers, dates, names)
and its `polarity` (yes and no); `marks` reads citations out of a model's reply; `untrusted` takes the sting out
of links and mentions that no source has.
"""

from kb.citations.support import Removed
from kb.citations.verification import Similarity, Verified, verify

__all__ = ["Removed", "Similarity", "Verified", "verify"]
