"""Words that ask nothing by themselves and point at what stands above them, in five languages."""

from __future__ import annotations

import pytest

from kb.text.phrases import named_in, points_above

POINTING = {
    "en": """
        do you know?|can you answer this?|^^|any idea?|what do you think?|can you help here?|do you know this one?
        could you help Bram with this please?|please answer|what is the answer to this?|help?|see above|this ☝️|?
        thoughts?|hey, do you know?|what's the answer?|is this true?|is this still correct?|does anyone know?|:point_up:
        who knows?|what does the handbook say?|can you answer Bram's question?|you?|could you please?|your take?
        do you have an answer to this?|can you help him out?|good morning, can you help with this?|do we know?|...
    """,
    "nl": """
        weet jij dit?|weet je het?|weet jij het antwoord?|kun je dit beantwoorden?|enig idee?|wat denk jij?|klopt dit?
        wat vind jij hiervan?|zie hierboven|wat zegt het handboek?|kun jij Bram helpen?|iemand een idee?
    """,
    "de": """
        weißt du das?|kannst du das beantworten?|kannst du helfen?|was denkst du?|siehe oben|stimmt das?|eine Idee?
        weiß das jemand?|was meinst du dazu?|können Sie das beantworten?
    """,
    "fr": """
        tu sais ?|tu peux répondre ?|une idée ?|qu'en penses-tu ?|peux-tu répondre à ça ?|c'est vrai ?|quelqu'un sait ?
        tu connais la réponse ?|quelle est la réponse ?|pouvez-vous répondre ?
    """,
    "es": """
        ¿sabes?|¿lo sabes?|¿puedes responder a esto?|¿alguna idea?|¿qué opinas?|¿es cierto?|¿alguien sabe?
        ¿sabes la respuesta?|¿me puedes ayudar con esto?
    """,
}
ASKING = {
    "en": """
        How many days of holiday do I get?|and for part-timers?|tell me more|who are you?|what can you do?|VPN?|why?
        how do I answer a customer?|who approves this?|how do I know?|where is the handbook?|how does this work?
        does that include Saturdays?|what is our policy on this?|can I get this refunded?|thanks!|the second one
        can you help me with my laptop?|anything else?|do you know the wifi password?|leave?|how can you help?
    """,
    "nl": "hoe werkt dit?|en voor deeltijders?|wat kost dat?|wie keurt dit goed?|weet je de code van de printer?",
    "de": "wie lange dauert das?|und für Teilzeit?|wer genehmigt das?|weißt du das WLAN-Passwort?",
    "fr": "combien de jours ?|et pour les temps partiels ?|comment ça marche ?|qui approuve ça ?",
    "es": "¿cuántos días?|¿y para los de media jornada?|¿cómo funciona esto?|¿quién lo aprueba?",
}


def each(texts: dict[str, str]) -> list[str]:
    return [
        one.strip()
        for text in texts.values()
        for line in text.splitlines()
        for one in line.split("|")
        if one.strip()
    ]


@pytest.mark.parametrize("text", ["", *each(POINTING)])
def test_it_points(text: str) -> None:
    assert points_above(text, names=["Bram de Vries"])


@pytest.mark.parametrize("text", each(ASKING))
def test_it_asks_by_itself(text: str) -> None:
    assert not points_above(text, names=["Bram de Vries"])


def test_a_long_message_says_something() -> None:
    assert not points_above("do you know " * 20)


def test_who_is_named_whole_or_by_the_first_name() -> None:
    people = ["Bram de Vries", "Jean-Pierre", "Alice"]
    assert named_in("can you answer Bram's question?", people) == {"Bram de Vries"}
    assert named_in("help @jean-pierre", people) == {"Jean-Pierre"}
    assert named_in("do you know?", people) == set()
