"""Tells alternative texts that describe a picture from those that only say that there is one."""

from __future__ import annotations

import re

_KIND = (
    r"image|img|imagen|picture|pic|photo|foto|graphic|grafik|afbeelding|bild|icon|logo|avatar|thumbnail|placeholder|spacer"
    r"|screenshot|screen shot|bildschirmfoto|schermafbeelding|dsc|pxl"
)
_DECORATIVE = re.compile(
    rf"\W*(?:(?:(?:user|profile|company|site|header|a|an|the)\s+)?(?:{_KIND})"
    r"[\s_#-]*(?:\d[\d\s._:-]*(?:at|om|um)?[\d\s._:-]*(?:[ap]m)?)?)?\W*",
    re.IGNORECASE,
)
_FILE_NAME = re.compile(r"[^/]+\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?|heic|ico|emf|wmf)", re.IGNORECASE)
_LONGEST_NAME = 200


def description(alternative: str) -> str:
    """Returns the text in one line; empty for a mere kind ("avatar", "Image 3"), or the name of a file (IMG_123)."""
    words = " ".join(alternative.split())
    if len(words) > _LONGEST_NAME:
        return words
    return "" if _DECORATIVE.fullmatch(words) or _FILE_NAME.fullmatch(words) else words
