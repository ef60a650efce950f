"""The file of senses, made out of a WordNet of five words."""

from __future__ import annotations

import gzip
from pathlib import Path

from kb.citations.wordnet_file import wordnet_file

FILES = {
    "data.noun": (
        "  1 This software and database is being provided to you\n"
        "00000100 06 n 01 vehicle 0 000 | a conveyance\n"
        "00000200 06 n 02 car 0 auto 0 001 @ 00000100 n 0000 | a motor vehicle\n"
        "00000300 06 n 01 goose 0 000 | a bird\n"
    ),
    "data.verb": "",
    "data.adj": (
        "00000400 00 a 01 large 0 001 & 00000500 a 0000 | above average\n"
        "00000500 00 s 01 sizable 0 001 & 00000400 a 0000 | fairly large\n"
    ),
    "data.adv": "",
    "index.noun": (
        "auto n 1 1 @ 1 1 00000200\n"
        "car n 1 1 @ 1 1 00000200\n"
        "car_park n 1 0 1 1 00000200\n"
        "goose n 1 0 1 1 00000300\n"
        "vehicle n 1 0 1 1 00000100\n"
    ),
    "index.verb": "",
    "index.adj": "large a 1 1 & 1 1 00000400\n",
    "index.adv": "",
    "noun.exc": "geese goose\n",
    "verb.exc": "",
    "adj.exc": "",
    "cntlist.rev": "car%1:06:00:: 1 9\ngoose%1:06:00:: 1 2\nlarge%3:00:00:: 1 5\nvehicle%1:06:00:: 1 3\n",
}


def test_common_single_words_get_their_senses_wider_ones_and_irregular_forms(tmp_path: Path) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="latin-1")

    made = wordnet_file(tmp_path)
    header, *lines = gzip.decompress(made).decode().splitlines()

    assert "Princeton" in header
    assert lines == ["car n 0|1", "goose n 2|", "large - 3|4", "vehicle n 1|", "geese =goose"]
    assert wordnet_file(tmp_path) == made
