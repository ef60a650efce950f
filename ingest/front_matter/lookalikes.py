"""Writes a text as a reader takes it: letters that only look like Latin ones, and invisible ones, hide no word.

`аudience` with a Cyrillic а, `ａｕｄｉｅｎｃｅ`, `aud<U+200B>ience` and `—audience：` are for whoever reads them what they
look like. A limit that is written so has been meant, so it is looked for in this text; the page itself is never read
from it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from html import unescape

_PAIRS = (
    "аa вb еe ѕs іi јj кk мm нh оo рp сc тt уy хx ԁd ԛq ԝw һh ӏl үy ʙb ԍg гr пn иu зe бb ѵv ѡw ӓa ëe "  # Cyrillic
    "αa βb γy δd εe ηn ιi κk νv οo ρp σo ςc τt υu χx ωw μu ζz "  # Greek
    "ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz "  # small capitals
    "ɑa ɡg ıi ɩi łl øo đd ɗd ɘe əe ǝe ɔc ʋu ꞓc օo սu եe հh ոn ցg զq ӕa ßb"
)
_SIGNS = {
    **dict.fromkeys("\u02d0\u2236\ua789\u0589\u05c3\ufe13\ufe55\uff1a\u1804\u205a\u0703\u0704\u02f8", ":"),
    **dict.fromkeys("\ua78a\u2e40\u30a0\uff1d\ufe66\u1400", "="),
    **dict.fromkeys("→⇒⟶➔➜➡⟹↦⇨", ":"),
    **dict.fromkeys("“”„‟«»″＂❝❞ˮ", '"'),
    **dict.fromkeys("‘’‚‛‹›′´`ʼʹ＇❛❜", "'"),
    **dict.fromkeys("─━―﹘﹣－−╌╍┄┅┈┉⁃˗➖ー⸺⸻", "-"),
    **dict.fromkeys("\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029", "\n"),
    **dict.fromkeys("\u2800\u3164\uffa0\u115f\u1160", None),
    "♯": "#",
    "╱": "/",
}


_LOOKS = {**{pair[0]: pair[1] for pair in _PAIRS.split()}, **_SIGNS}
_ODD = re.compile(r"[^\n\t\x20-\x7e]")
_REPLACED = re.compile(r"[^\n\t\x20-\x5f\x61-\x7e]")
"""What is replaced in a line that has anything odd: there a backtick is a quotation mark."""
_ENTITY = re.compile(r"&#?\w{1,8};")
_ESCAPED = re.compile(r"\\([^\w\s])")


def plainly(text: str) -> str:
    """Writes a text in ASCII as far as it looks so; lines end in \\n. Line by line: nearly all need no work."""
    if _ODD.search(text):
        text = "\n".join(
            _REPLACED.sub(_look, line).casefold() if _ODD.search(line) else line
            for line in re.split("\r\n|[\r\x0b\x0c\x85\u2028\u2029]|\n", text)
        )
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def _look(found: re.Match[str]) -> str:
    return _look_of(found[0])


@lru_cache(maxsize=8192)
def _look_of(character: str) -> str:
    """Returns what a character looks like: nothing, if it is invisible or a mark on a letter."""
    if (sign := _SIGNS.get(character)) is not None:
        return sign
    return "".join(map(_plain_part, unicodedata.normalize("NFKD", character).casefold()))


def _plain_part(part: str) -> str:
    if part.isascii():
        return part
    if part in _LOOKS:
        return _LOOKS[part] or ""
    if "\U000e0000" <= part < "\U000e01f0":  # tags and variation selectors, assigned or not
        return ""
    match unicodedata.category(part):
        case "Mn" | "Me" | "Cf" | "Cc":
            return ""
        case "Zs":
            return " "
        case "Pd":
            return "-"
        case _:
            return part
