"""A text as a reader takes it: letters that only look like Latin ones, and what cannot be seen, do not hide a word.

`аudience` with a Cyrillic а, `ａｕｄｉｅｎｃｅ`, `aud<U+200B>ience` and `—audience：` are for whoever reads them what
they look like. A limit
that is written so has been meant, so it is looked for in this text; the page itself is never read from it.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
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


@cache
def _table() -> dict[int, str | None]:
    """Builds the table when a text first needs it, which takes 60 ms.

    Categories: Mn, Me marks on letters; Cf what cannot be seen; Zs spaces; Pd dashes; Cc controls.
    """
    table: dict[int, str | None] = {}
    for point in range(0x80, 0x20000):
        match unicodedata.category(chr(point)):
            case "Mn" | "Me" | "Cf" | "Cc":
                table[point] = None
            case "Zs":
                table[point] = " "
            case "Pd":
                table[point] = "-"
    table |= dict.fromkeys(range(0xE0000, 0xE01F0))
    table |= {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
    table |= {ord(sign): plain for sign, plain in _SIGNS.items() if sign != "`"}
    return table


_ODD = re.compile(r"[^\n\t\x20-\x7e]")
_ENTITY = re.compile(r"&#?\w{1,8};")
_ESCAPED = re.compile(r"\\([^\w\s])")


def plainly(text: str) -> str:
    """Writes a text in ASCII as far as it looks so; lines end in \\n. Line by line: nearly all need no work."""
    if _ODD.search(text):
        text = "\n".join(
            _plain(line) if _ODD.search(line) else line
            for line in re.split("\r\n|[\r\x0b\x0c\x85\u2028\u2029]|\n", text)
        )
    if "&" in text:
        text = _ENTITY.sub(lambda found: unescape(found[0]), text)
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text


def _plain(line: str) -> str:
    decomposed = unicodedata.normalize("NFKD", line.translate(_SPECIAL)).casefold()
    return decomposed.translate(_table())


_SPECIAL = {ord(sign): plain for sign, plain in _SIGNS.items() if plain is not None}
"""Before compatibility forms are taken apart: some signs come apart into others."""
