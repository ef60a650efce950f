"""Decodes text, drops its invisible characters, and finds a document's title and date where its text has none."""

from __future__ import annotations

import codecs
import re
from datetime import date
from pathlib import PurePosixPath

from charset_normalizer import from_bytes

from ingest.errors import PageError
from ingest.front_matter.dates import UnreadableDateError, parse_date
from ingest.front_matter.limits import mentions_a_limit

_HIDDEN_CHARACTERS = re.compile(
    "[\u00ad\u034f\u061c\u115f\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"
    "|(?<![^\x00-\x7f])[\u200c\u200d]"
)
"""Characters that no reader sees. The two joiners at the end matter after a letter of Persian or Hindi."""
_LINE_END = re.compile("\r\n|[\r\x85\u2028\u2029]|[\x0b\x0c](?!\n)")
_CONTROL = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
"""Byte order marks. UTF-32's begin with UTF-16's."""
_GUESSED_FROM = 200_000
"""Bytes from which an encoding is guessed, which takes a second per megabyte."""
_TRUSTED_GUESSES = frozenset({"cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"})
"""Other guesses lose to Windows' Western encoding over a short text of few accents (`Größe;5` is no Big5)."""
_WESTERN = re.compile(r"[ÀÁÂÃÄÅÆÇÈÉÊËÍÎÏÑÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëíîïñóôõöøùúûüýÿŒœŠšŽžŸ]")
_BETWEEN_WORDS = re.compile(
    r"(?<!\w)[€‚„…†•–—™‹›“”¡¢£¥§©«°®±»¿\xa0]|[€„…•–—™‹›“”§©«°®±»\xa0](?!\w)|[’‘´²³½¼ªº·¶]"
)
_MOST_WESTERN = 1 / 3
"""Maximum share of characters outside ASCII. In other scripts every second letter and more has its high bit set."""
_SUFFIX = re.compile(r"(\.html)?(\.md)?\.[A-Za-z][A-Za-z0-9]{0,8}$")


def decoded(content: bytes) -> str:
    """Decodes text in any encoding: by its byte order mark, else as UTF-8, else as charset-normalizer guesses.

    Raises:
        PageError: it is not text.
    """
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        return cleaned(content.decode(encoding))
    except (UnicodeDecodeError, PageError):
        guess = guessed_encoding(content)
    if guess is None:
        reason = "it is not text, or in an encoding that cannot be told: save it as UTF-8"
        raise PageError(reason, withdraw=mentions_a_limit(content))
    return cleaned(content.decode(guess, errors="replace"))


def guessed_encoding(content: bytes) -> str | None:
    """Guesses the encoding of a text that does not name it; None where it cannot be told, or this is no text."""
    sample = content[:_GUESSED_FROM]
    best = from_bytes(sample).best()
    if (best is None or best.encoding not in _TRUSTED_GUESSES) and _reads_as_western(sample):
        return "cp1252"
    return best.encoding if best else None


def _reads_as_western(content: bytes) -> bool:
    """Whether it is words of Western Europe in Windows' encoding, with typographic marks only between them."""
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return False
    if "\0" in text:
        return False
    foreign = sum(not character.isascii() for character in text)
    plausible = len(_WESTERN.findall(text)) + len(_BETWEEN_WORDS.findall(text))
    return 0 < foreign == plausible and foreign <= _MOST_WESTERN * len(text)


def cleaned(text: str) -> str:
    """Normalizes line ends and drops the characters that no reader sees.

    Raises:
        PageError: it is not text.
    """
    if "\0" in text:
        raise PageError("it is not text but binary data")
    text = _LINE_END.sub("\n", text)
    return _HIDDEN_CHARACTERS.sub("", _CONTROL.sub("", text))


def title_from(path: str) -> str:
    """Makes a title of a file's name, or of its folder's where the name says nothing ("docs/travel/index.md")."""
    parts = PurePosixPath(path).parts
    name = _SUFFIX.sub("", parts[-1])
    if name.lower() in ("index", "readme") and len(parts) > 1:
        name = parts[-2]
    words = " ".join(re.sub(r"[-_]+", " ", name).split())
    return words[:1].upper() + words[1:] or path


def own_date(written: object) -> date | None:
    """Reads a date that a document claims for itself; None where it is none.

    Not to be trusted over anything that the source knows.
    """
    try:
        return parse_date(written) if isinstance(written, str) else None
    except UnreadableDateError:
        return None
