"""Every error that the knowledge room raises on purpose.

    FootnoteError
    ├── SettingsError          a setting is wrong; the message says how to fix it
    ├── DataFolderInUseError   another process owns the data folder
    ├── UnavailableError       something we need does not answer: an outage, never "not found"
    │   ├── IndexUnavailableError
    │   │   └── IndexDamagedError      files of the embedded index are cut or gone: rebuild it
    │   ├── StoreUnavailableError      Redis/Valkey
    │   │   └── StoreFullError         its memory is full: it answers, and takes nothing new
    │   ├── ModelUnavailableError      the language model: down, overloaded, too slow, cut off
    │   ├── EmbedderUnavailableError
    │   └── RerankerUnavailableError   never fatal: the fused order stands
    ├── ModelRefusedError      the model declined to answer (stop_reason "refusal")
    ├── ModelReplyError        the model answered, but not in a form that we can use
    └── IndexMismatchError     the index was built by another embedder or chunker: reindex

Their texts are for operators. A Slack user reads `bot.messages.catalog` only.
"""


class FootnoteError(Exception):
    """Base of every error that Footnote raises on purpose."""


class SettingsError(FootnoteError):
    """A setting is missing or wrong. The message says which one and how to fix it."""


class DataFolderInUseError(FootnoteError):
    """Another living process owns the data folder."""


class UnavailableError(FootnoteError):
    """Something Footnote needs does not answer. Never to be worded as "not found"."""


class IndexUnavailableError(UnavailableError):
    """The vector index cannot be reached or opened."""


class IndexDamagedError(IndexUnavailableError):
    """Files of the embedded index are cut or gone: nothing is read of it until it is rebuilt."""


class StoreUnavailableError(UnavailableError):
    """Redis or Valkey cannot be reached."""


class StoreFullError(StoreUnavailableError):
    """The store's memory is full: it can be read and emptied. Waiting helps only where somebody raises its limit."""


class ModelUnavailableError(UnavailableError):
    """The language model is down, overloaded, too slow, or its stream was cut."""


class EmbedderUnavailableError(UnavailableError):
    """The embedding model cannot be loaded."""


class RerankerUnavailableError(UnavailableError):
    """The cross-encoder is off, cannot be loaded, or failed."""


class ModelRefusedError(FootnoteError):
    """The language model declined to answer."""


class ModelReplyError(FootnoteError):
    """The language model's reply has a form that we cannot use."""


class IndexMismatchError(FootnoteError):
    """The index was made by another embedder, dimension or chunker than the one configured."""
